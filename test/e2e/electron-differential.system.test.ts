import { afterEach, describe, expect, it } from 'vitest';
import { signIn } from '../http/accounts/account-support.ts';
import { editedBytes, publishWebBuild, seededBytes } from '../support/electron-build.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  expectDifferential,
  expectWhole,
  NEW,
  OLD,
  openClient,
  RANGE_MODES,
  release,
  releaseTwo,
  update,
} from './differential.ts';

/** Differential downloads by the real electron-updater, from both kinds of stores. */

let service: TestService;

afterEach(() => service.close());

const KINDS = ['nsis', 'mac', 'appimage'] as const;
const TIERS = JSON.stringify({ free: ['channel:desktop/stable'] });

/** @param isStore whether an address is the store's, where no token may arrive */
function define(
  open: (env?: Record<string, string>) => Promise<TestService>,
  isStore: (url: string) => boolean,
): void {
  describe.each(RANGE_MODES)('%s', (mode, config) => {
    it.each(KINDS)('%s: downloads what changed', async (kind) => {
      service = await open();
      const { old, next } = await releaseTwo(service, kind);
      const client = await openClient(service, { kind, config, installed: old.file });
      expectDifferential(await update(client), next.file);
      const ranged = client.requests.filter(({ range }) => /^bytes=\d/.test(range ?? ''));
      expect(ranged.some(({ range }) => range?.includes(','))).toBe(mode === 'several ranges');
      expect(ranged.every(({ status }) => status === 206 || status === 302)).toBe(true);
    });

    it.each(KINDS)('%s: with an access token, which never reaches the store', async (kind) => {
      service = await open({ TIERS });
      const { old, next } = await releaseTwo(service, kind);
      const { access } = await signIn(service);
      const client = await openClient(service, {
        kind,
        config,
        installed: old.file,
        configure: (updater) => {
          updater.requestHeaders = { authorization: `Bearer ${access}` };
        },
      });
      expectDifferential(await update(client), next.file);
      const toStore = client.requests.filter(({ url }) => isStore(url));
      expect(toStore.filter(({ hasToken }) => hasToken)).toEqual([]);
      expect(client.requests.some(({ hasToken }) => hasToken)).toBe(true);
    });

    it.each(['nsis', 'appimage'] as const)('%s: electron-updater 5', async (kind) => {
      service = await open();
      const { old, next } = await releaseTwo(service, kind);
      const options = { kind, config, installed: old.file, client: 'previous' } as const;
      expectDifferential(await update(await openClient(service, options)), next.file);
    });

    it('the package of a web installer', async () => {
      service = await open();
      const old = await publishWebBuild(service, { version: '1.0.0', bytes: OLD });
      const next = await publishWebBuild(service, { version: '2.0.0', bytes: NEW });
      await service.refresh();
      const client = await openClient(service, {
        kind: 'nsis',
        config,
        installed: old.installer,
        installedPackage: old.package,
      });
      const updated = await update(client);
      expect(updated.package?.equals(next.package)).toBe(true);
      expectDifferential(updated, next.installer);
    });
  });

  it('several requests, when there are more ranges than one may have', async () => {
    service = await open();
    const kind = 'nsis';
    const bytes = seededBytes(60 * 1024 * 1024, 'large build');
    const changed = editedBytes(bytes, 700, 'much changed');
    const old = await release(service, { kind, version: '1.0.0', bytes });
    const next = await release(service, { kind, version: '2.0.0', bytes: changed });
    const client = await openClient(service, { kind, installed: old.file });
    const { received, bytes: downloaded } = await update(client);
    expect(downloaded.equals(next.file)).toBe(true);
    const several = client.requests.filter(({ range }) => range?.includes(','));
    const counts = several.map(({ range = '' }) => range.split(',').length);
    expect(several.map(({ status }) => status)).toEqual([206, 206]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(600);
    expect(received, client.log.join('\n')).toBeLessThan(0.4 * bytes.length);
  });

  it.each(['nsis', 'mac', 'appimage', 'deb', 'rpm', 'pacman'] as const)(
    '%s: the whole file for a machine without the old one',
    async (kind) => {
      service = await open();
      const { next } = await releaseTwo(service, kind);
      const { bytes, received } = await update(await openClient(service, { kind }));
      expect(bytes.equals(next.file)).toBe(true);
      expect(received).toBeGreaterThan(next.file.length);
    },
  );
}

describe('on a directory store', () =>
  define(
    (env = {}) => createTestService({ store: 'directory', env }),
    // The service itself is the store, and may see the token.
    () => false,
  ));

describeS3('on a real S3 server', (server) => {
  const bucket = useBucket(server);
  let count = 0;
  define(
    (env = {}) => {
      count += 1;
      return createTestService({ store: bucket.store({ prefix: `${count}/` }), env });
    },
    (url) => url.startsWith(server.endpoint),
  );
});

describe('limits of the client itself', () => {
  it('electron-updater 5 downloads the whole zip on macOS', async () => {
    service = await createTestService({ store: 'directory' });
    const { old, next } = await releaseTwo(service, 'mac');
    const options = { kind: 'mac', installed: old.file, client: 'previous' } as const;
    const { bytes, received } = await update(await openClient(service, options));
    expect(bytes.equals(next.file)).toBe(true);
    expect(received).toBeGreaterThan(next.file.length);
  });

  it('downloads the whole file when the installed release has no block map', async () => {
    service = await createTestService({ store: 'directory' });
    const kind = 'nsis';
    const old = await release(service, { kind, version: '1.0.0', bytes: OLD, hasBlockmap: false });
    const next = await release(service, { kind, version: '2.0.0', bytes: NEW });
    const client = await openClient(service, { kind, installed: old.file });
    expectWhole(
      await update(client),
      next.file,
      /fallback to full download: Error: Cannot download .*1\.0\.0\.exe\.blockmap", status 404/,
    );
  });
});
