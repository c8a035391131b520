import { request } from 'node:https';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, systemRandomness } from '../../src/core/system.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { openDirectoryStore } from '../support/directory-store.ts';
import { createElectronClient, type ElectronClientOptions } from '../support/electron-updater.ts';
import { killAll, startServer } from '../support/process.ts';
import { hasProgram } from '../support/programs.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';
import { startTlsProxy, type TlsProxy } from '../support/tls-proxy.ts';
import {
  expectDifferential,
  RANGE_MODES,
  type Releases,
  releaseEach,
  update,
} from './differential.ts';

/** The real electron-updater through a proxy that ends TLS, in front of two processes that answer in turn. */

type Kind = 'nsis' | 'appimage';
const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse';

interface Place {
  /** The settings of both processes. */
  readonly env: () => Record<string, string>;
  readonly store: (directory: string) => Promise<ObjectStore>;
  readonly kinds: readonly Kind[];
}

function define({ env, store, kinds }: Place): void {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let proxy: TlsProxy;
  let builds: Record<Kind, Releases>;

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    proxy = await startTlsProxy();
    const parts = { clock: systemClock, randomness: systemRandomness, directory: directory.path };
    const published = { ...parts, store: await store(directory.path) };
    builds = await releaseEach(published, kinds, ['stable', 'closed']);
    const settings = {
      PUBLIC_URL: proxy.url,
      TRUST_PROXY: '127.0.0.1',
      AUTH_PER_ADDRESS: '1000',
      TIERS: JSON.stringify({ free: ['channel:desktop/closed'] }),
      DATA_DIR: path.join(directory.path, 'data'),
      ...env(),
    };
    const processes = [startServer(settings), startServer(settings)];
    proxy.forwardTo(await Promise.all(processes.map(({ ready }) => ready())));
  }, 120_000);
  afterAll(async () => {
    killAll();
    await proxy.close();
    await directory.remove();
  });

  const openClient = (
    channel: string,
    options: Pick<ElectronClientOptions, 'kind'> & Partial<ElectronClientOptions>,
  ) =>
    createElectronClient({
      url: `${proxy.url}/feeds/desktop/${channel}/electron`,
      version: '1.0.0',
      authority: proxy.authority,
      ...options,
    });

  describe.each(RANGE_MODES)('%s', (_mode, config) => {
    it.each(kinds)('%s: downloads what changed', async (kind) => {
      const { old, next } = builds[kind];
      const before = [...proxy.answered];
      const client = await openClient('stable', { kind, config, installed: old.file });
      expectDifferential(await update(client), next.file);
      const answered = proxy.answered.map((count, index) => count - (before[index] ?? 0));
      expect(answered.every((count) => count > 0)).toBe(true);
    });

    it.each(kinds)('%s: downloads what changed with an access token', async (kind) => {
      const token = await signIn(proxy);
      const { old, next } = builds[kind];
      const client = await openClient('closed', {
        kind,
        config,
        installed: old.file,
        configure: (updater) => {
          updater.requestHeaders = { authorization: `Bearer ${token}` };
        },
      });
      expectDifferential(await update(client), next.file);
      const elsewhere = client.requests.filter(({ url }) => !url.startsWith(proxy.url));
      expect(elsewhere.filter(({ hasToken }) => hasToken)).toEqual([]);
    });
  });
}

/** Through the proxy: the account may be made by one process and read by the other. */
async function signIn(proxy: TlsProxy): Promise<string> {
  const post = (address: string, body: object) =>
    new Promise<Record<string, string>>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const url = `${proxy.url}/api/v1/auth/${address}`;
      const sent = request(url, { method: 'POST', headers, ca: proxy.authority }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => void chunks.push(chunk));
        answer.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString() || '{}')));
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  const person = { email: EMAIL, password: PASSWORD };
  await post('register', person);
  const device = { id: 'laptop-1', name: 'Laptop' };
  const session = await post('login', { ...person, platform: 'windows', device });
  expect(session.access_token).toBeDefined();
  return String(session.access_token);
}

const hasOpenssl = await hasProgram('openssl', 'version');

describe.skipIf(!hasOpenssl)('two processes on one directory', () =>
  define({
    env: () => ({}),
    store: (directory) => openDirectoryStore(path.join(directory, 'data', 'objects')),
    kinds: ['nsis'],
  }),
);

describeS3('two processes on one bucket', (server) => {
  const bucket = useBucket(server);
  describe.skipIf(!hasOpenssl)('behind a proxy', () =>
    define({
      env: () => s3Environment(server, bucket.name),
      store: async () => bucket.store(),
      kinds: ['nsis', 'appimage'],
    }),
  );
});
