import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiCall, callEverything, readDocuments } from './api-calls.ts';
import {
  contradiction,
  type FoundOperation,
  findFaults,
  operationsOf,
  type ReceivedAnswer,
  typeOf,
} from './api-document.ts';
import { type ApiScene, createApiScene } from './api-scene.ts';
import { steady } from './steady.ts';

/**
 * Every operation of both OpenAPI documents, called as clients call it: each answer is as its document says, and the
 * examples of the documents are these answers. `npm run examples` writes the examples again.
 */

const FILE = path.resolve(import.meta.dirname, '../../../src/server/documentation/examples.json');

type Examples = Record<string, Record<string, Record<string, unknown>>>;

describe('the operations of both documents', () => {
  let scene: ApiScene;
  let operations: ReadonlyMap<string, FoundOperation>;
  const called = new Set<string>();
  const contradictions: string[] = [];
  const examples: Examples = {};

  beforeAll(async () => {
    scene = await createApiScene('https://updates.example.com');
    operations = operationsOf(await readDocuments(scene));
    await callEverything(async (call) => {
      const answer = await inject(call);
      expect([call.operation, answer.status, answer.body.toString()]).toEqual([
        call.operation,
        call.status,
        expect.anything(),
      ]);
      called.add(call.operation);
      const found = contradiction(operationOf(call), answer);
      if (found !== undefined) contradictions.push(found);
      keepExample(call.operation, answer);
      return answer;
    });
  });
  afterAll(() => scene.close());

  function operationOf({ operation }: Pick<ApiCall, 'operation'>): FoundOperation {
    const found = operations.get(operation);
    if (found === undefined) throw new Error(`No document has ${operation}.`);
    return found;
  }

  async function inject(call: ApiCall): Promise<ReceivedAnswer> {
    const { method, path: template } = operationOf(call);
    const { path: values = {}, query = {}, token, body, to = 'service' } = call;
    const url = template.replace(/\{([^{}]+)\}/g, (_all, name) =>
      encodeURIComponent(String(values[name])),
    );
    const response = await scene[to].app.http.inject({
      method: method.toUpperCase() as 'GET',
      url,
      query,
      headers: {
        ...call.headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const headers = response.headers as Record<string, string>;
    return { status: response.statusCode, headers, body: response.rawPayload };
  }

  /** Keeps the first answer of each status and media type. */
  function keepExample(operation: string, { status, headers, body }: ReceivedAnswer): void {
    examples[operation] ??= {};
    const kept = examples[operation];
    if (status === 302) kept[status] ??= { location: steady(headers.location) };
    const type = typeOf(headers);
    const isReadable = /json|xml|yaml|^text\//.test(type);
    if (!isReadable || body.length === 0) return;
    kept[status] ??= {};
    const content = (kept[status].content ?? {}) as Record<string, unknown>;
    const schema = operationOf({ operation }).responses[status]?.content?.[type]?.schema;
    const text = body.toString();
    content[type] ??= steady(schema?.type === 'string' ? text : JSON.parse(text));
    kept[status].content = content;
  }

  it('are all called', () => {
    expect([...operations.keys()].filter((id) => !called.has(id))).toEqual([]);
  });

  it('answer as their document says: status, media type and body', () => {
    expect(contradictions).toEqual([]);
  });

  it('have the examples that these answers are', async () => {
    expect(Object.values(examples).filter((each) => Object.keys(each).length === 0)).toEqual([]);
    const sorted = Object.fromEntries(
      Object.entries(examples).sort(([one], [other]) => (one < other ? -1 : 1)),
    );
    await expect(`${JSON.stringify(sorted, null, 2)}\n`).toMatchFileSnapshot(FILE);
  });

  it('have examples in their document, and each is valid', () => {
    for (const { operationId, responses } of operations.values()) {
      let count = 0;
      for (const { content = {}, headers = {} } of Object.values(responses)) {
        if (headers.location?.example !== undefined) count++;
        for (const { schema, example } of Object.values(content)) {
          if (example === undefined) continue;
          count++;
          expect(findFaults(schema, example), operationId).toBe('');
        }
      }
      expect([operationId, count > 0]).toEqual([operationId, true]);
    }
  });

  it('have paths that generated clients can fill: every part in braces is a parameter', () => {
    for (const { path: template, parameters = [] } of operations.values()) {
      const named = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name);
      const declared = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
      expect(declared.sort(), template).toEqual(named.sort());
      expect(
        named.every((name) => /^[a-z][a-z0-9_]*$/.test(String(name))),
        template,
      ).toBe(true);
      expect(new Set(named).size).toBe(named.length);
    }
  });
});
