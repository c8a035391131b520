import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { UpdaterOptions } from '../../src/client/types.ts';
import { createVerifier, type UpdaterSystem } from '../../src/client/verifier.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { createSignedService, type SignedService } from '../support/signed-service.ts';

/** A signed service, and updaters. A test can answer their requests in place of the service. */

/** Answers in place of the service; undefined passes the request on. */
export type Rule = (url: string, init?: RequestInit) => Promise<Response | undefined> | undefined;

export interface ClientWorld {
  readonly signed: SignedService;
  readonly url: string;
  /** Publishes a Windows program with this text as its bytes, unless `content` states others. */
  release(version: string, request?: object, content?: string): Promise<void>;
  /** The options of an application with 1.0.0 and an empty cache. */
  options(given?: Partial<UpdaterOptions>, rule?: Rule): Promise<UpdaterOptions>;
  close(): Promise<void>;
}

export async function openClientWorld(
  options: Parameters<typeof createSignedService>[0] = {},
): Promise<ClientWorld> {
  const temporary = await makeTemporaryDirectory();
  const signed = await createSignedService(options);
  const url = await signed.service.listen();
  return {
    signed,
    url,
    release: async (version, request = {}, content = `program ${version}`) => {
      const filename = `App-${version}.exe`;
      const artifact = await makeArtifact(temporary.path, { filename, content });
      await signed.publish({ version, artifacts: [artifact], ...request });
    },
    options: async (given = {}, rule) => ({
      root: await readFile(signed.rootFile),
      cache: path.join(temporary.path, `cache-${randomUUID()}`),
      url,
      app: 'desktop',
      currentVersion: '1.0.0',
      platform: 'win32',
      arch: 'x64',
      ...(rule === undefined ? {} : { fetch: between(rule) }),
      ...given,
    }),
    close: async () => {
      await signed.close();
      await temporary.remove();
    },
  };
}

/** A `fetch` that a test may answer itself. */
export function between(rule: Rule): typeof fetch {
  return async (input, init) => (await rule(String(input), init)) ?? fetch(input, init);
}

/** The updater of an application, but for the pause before it looks once more for signatures. */
export const QUICK: UpdaterSystem = { now: () => Date.now(), patienceMs: 30_000, pauseMs: 1 };

/** What one check says: the offered version, the reason why there is none, or the code of the error. */
export async function checked(
  options: UpdaterOptions,
  system: UpdaterSystem = QUICK,
): Promise<string> {
  try {
    const result = await createVerifier(options, system).check();
    return result.isOffered ? result.offer.version : result.reason;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
