import { afterEach, describe, expect, it } from 'vitest';
import {
  type ElectronBuild,
  editedBytes,
  type PackageKind,
  publishBuild,
  type ShippedBuild,
  seededBytes,
} from '../support/electron-build.ts';
import {
  createElectronClient,
  type Downloaded,
  type ElectronClient,
  type ElectronClientOptions,
} from '../support/electron-updater.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import { createTestService, type TestService } from '../support/service.ts';

/**
 * Differential downloads by the real electron-updater. It falls back to the whole file without an error, so each test
 * counts the bytes that the client received.
 */

const BUILD_BYTES = 24 * 1024 * 1024;
/** Forty edits change some forty to ninety blocks of at most 32 KiB. */
const EDITS = 40;
const DIFFERENCE_BYTES_MAX = 3 * 1024 * 1024;

const OLD = seededBytes(BUILD_BYTES, 'build');
const NEW = editedBytes(OLD, EDITS, 'next build');

let service: TestService;

afterEach(() => service.close());

/** Publishes 1.0.0 and 2.0.0 of one kind. */
async function release(
  kind: PackageKind,
  builds: Partial<ElectronBuild> = {},
): Promise<{ readonly old: ShippedBuild; readonly next: ShippedBuild }> {
  const old = await publishBuild(service, { kind, version: '1.0.0', bytes: OLD, ...builds });
  const next = await publishBuild(service, { kind, version: '2.0.0', bytes: NEW, ...builds });
  await service.refresh();
  return { old, next };
}

async function openClient(
  options: Omit<ElectronClientOptions, 'url' | 'version'> & Partial<ElectronClientOptions>,
): Promise<ElectronClient> {
  const url = `${await service.listen()}/feeds/desktop/stable/electron`;
  return createElectronClient({ url, version: '1.0.0', ...options });
}

interface Update extends Downloaded {
  readonly client: ElectronClient;
  /** What the client received for the check and the download. */
  readonly received: number;
}

async function update(client: ElectronClient, version = '2.0.0'): Promise<Update> {
  expect(await client.check()).toBe(version);
  const downloaded = await client.download();
  const received = client.requests.reduce((sum, { bytes }) => sum + bytes, 0);
  return { ...downloaded, client, received };
}

function expectDifferential({ client, received, bytes }: Update, next: Buffer): void {
  expect(bytes.equals(next)).toBe(true);
  expect(received, client.log.join('\n')).toBeLessThan(DIFFERENCE_BYTES_MAX);
}

const RANGE_MODES = [
  ['several ranges', {}],
  ['single ranges', { useMultipleRangeRequest: false }],
] as const;
const KINDS = ['nsis', 'mac', 'appimage'] as const;

function onEveryStore(open: (env?: Record<string, string>) => Promise<TestService>): void {
  describe.each(RANGE_MODES)('%s', (_mode, config) => {
    it.each(KINDS)('%s: downloads what changed', async (kind) => {
      service = await open();
      const { old, next } = await release(kind);
      const client = await openClient({ kind, config, installed: old.file });
      expectDifferential(await update(client), next.file);
    });
  });
}

describe('on a directory store', () =>
  onEveryStore((env = {}) => createTestService({ store: 'directory', env })));

describeS3('on a real S3 server', (server) => {
  const bucket = useBucket(server);
  let count = 0;
  onEveryStore((env = {}) => {
    count += 1;
    return createTestService({ store: bucket.store({ prefix: `${count}/` }), env });
  });
});
