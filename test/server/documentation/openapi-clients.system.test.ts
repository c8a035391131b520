import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiCall, callEverything, readDocuments } from './api-calls.ts';
import {
  contradiction,
  type FoundOperation,
  operationsOf,
  type ReceivedAnswer,
  typeOf,
} from './api-document.ts';
import { type ApiScene, createApiScene } from './api-scene.ts';

/**
 * Clients that `openapi-typescript` and `@hey-api/openapi-ts` generate from both documents of a real service. Each
 * calls every operation, and each answer is as its document says.
 *
 * The generators are in a folder of their own, because they want an older TypeScript than this project has.
 */

const FOLDER = path.resolve(import.meta.dirname, '../../openapi-clients');
const GENERATED = path.join(FOLDER, 'generated');

interface ClientModule {
  openClient(
    baseUrl: string,
    fetch: (request: Request) => Promise<Response>,
  ): { call(call: object): Promise<void> };
  typed(baseUrl: string): Promise<readonly unknown[]>;
}

let scene: ApiScene;

beforeAll(async () => {
  await installGenerators();
  scene = await createApiScene();
  await rm(GENERATED, { recursive: true, force: true });
  await mkdir(GENERATED);
  const [open, account] = await readDocuments(scene);
  await writeFile(path.join(GENERATED, 'public.json'), JSON.stringify(open));
  await writeFile(path.join(GENERATED, 'account.json'), JSON.stringify(account));
  for (const name of ['public', 'account']) {
    await generate('openapi-typescript/bin/cli.js', `${name}.json`, '-o', `${name}.d.ts`);
    await generate('@hey-api/openapi-ts/bin/run.js', '-i', `./${name}.json`, '-o', name);
  }
});
afterAll(() => scene?.close());

async function installGenerators(): Promise<void> {
  if (existsSync(path.join(FOLDER, 'node_modules'))) return;
  console.log('npm ci in test/openapi-clients: the generators of clients are not installed here');
  await promisify(execFile)('npm', ['ci', '--no-fund', '--no-audit'], { cwd: FOLDER });
}

/** Runs a program of the folder with the Node of this process: the machine's own may be too old for it. */
async function generate(program: string, ...words: readonly string[]): Promise<void> {
  const file = path.join(FOLDER, 'node_modules', program);
  await promisify(execFile)(process.execPath, [file, ...words], { cwd: GENERATED });
}

it('the generated code has the types that a program with these calls needs', async () => {
  const compiler = path.join(FOLDER, 'node_modules/typescript/bin/tsc');
  const checked = promisify(execFile)(process.execPath, [compiler], { cwd: FOLDER });
  const { stdout } = await checked.catch((error: { readonly stdout: string }) => error);
  expect(stdout).toBe('');
});

describe.each(['by-types', 'by-sdk'])('a generated client, %s', (name) => {
  let client: ClientModule;

  beforeAll(async () => {
    const outfile = path.join(GENERATED, `${name}.mjs`);
    await build({
      entryPoints: [path.join(FOLDER, `${name}.ts`)],
      outfile,
      bundle: true,
      format: 'esm',
      logLevel: 'error',
    });
    client = await import(pathToFileURL(outfile).href);
  });

  it('calls every operation, and each answer is as documented', async () => {
    const fresh = await createApiScene();
    const operations = operationsOf(await readDocuments(fresh));
    const called = new Set<string>();
    const contradictions: string[] = [];
    await callEverything(async (call) => {
      const operation = operations.get(call.operation);
      if (operation === undefined) throw new Error(`No document has ${call.operation}.`);
      const answer = await callBy(client, fresh, call, operation);
      expect([call.operation, answer.status]).toEqual([call.operation, call.status]);
      const found = contradiction(operation, answer);
      if (found !== undefined) contradictions.push(found);
      called.add(call.operation);
      return answer;
    });
    expect(contradictions).toEqual([]);
    expect([...operations.keys()].filter((id) => !called.has(id))).toEqual([]);
    await fresh.close();
  });

  it('reads answers into values of the documented types', async () => {
    const baseUrl = await scene.service.listen();
    expect(await client.typed(baseUrl)).toEqual(['1.1.0', "version: '1.1.0'", 'timestamp', true]);
  });
});

/** Makes a call with a generated client. @returns the answer as it came from the service */
async function callBy(
  client: ClientModule,
  from: ApiScene,
  { operation, headers = {}, query = {}, token, body, to = 'service', ...call }: ApiCall,
  { method, path: template, responses }: FoundOperation,
): Promise<ReceivedAnswer> {
  const answers: ReceivedAnswer[] = [];
  const baseUrl = await from[to].listen();
  const { openClient } = client;
  const sending = openClient(baseUrl, async (request) => {
    // A redirect is an answer of its own here, which the document describes.
    const response = await fetch(request, { redirect: 'manual' });
    const bytes = Buffer.from(await response.arrayBuffer());
    const { status } = response;
    answers.push({ status, headers: Object.fromEntries(response.headers), body: bytes });
    return new Response([204, 304].includes(status) ? null : bytes, response);
  });
  await sending.call({
    operation,
    method,
    path: template,
    parameters: {
      path: call.path ?? {},
      query,
      header: {
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    },
    body,
    sendsText: typeof body === 'string',
    getsText: Object.values(responses[200]?.content ?? {}).some(
      ({ schema }) => schema.type === 'string',
    ),
  });
  const [answer, ...others] = answers;
  if (answer === undefined || others.length > 0) throw new Error(`${operation}: ${answers.length}`);
  // The header of a content type decides how a client reads the body.
  expect(typeOf(answer.headers) !== '' || answer.body.length === 0, operation).toBe(true);
  return answer;
}
