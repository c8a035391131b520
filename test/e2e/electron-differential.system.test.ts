import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../features/accounts/routes/account-support.ts';
import {
  editedBytes,
  publishWebBuild,
  type ShippedWebBuild,
  seededBytes,
} from '../support/electron-build.ts';
import type { ElectronClientOptions } from '../support/electron-updater.ts';
import { edited, FILES, macZip } from '../support/mac-zip.ts';
import { describeS3, useBucket } from '../support/s3-server.ts';
import { createTestService, type TestService } from '../support/service.ts';
import {
  expectDifferential,
  expectWhole,
  NEW,
  OLD,
  openClient,
  RANGE_MODES,
  type Releases,
  release,
  releaseEach,
  releaseTwo,
  update,
} from './differential.ts';

/** Differential downloads by the real electron-updater, from both kinds of stores. */

const KINDS = ['nsis', 'mac', 'appimage'] as const;
type Kind = (typeof KINDS)[number];
const TIERS = JSON.stringify({ free: ['channel:desktop/closed'] });

/**
 * One service for all tests of a store, and each build published once: a store in the memory of a test server is small.
 *
 * @param isStore whether an address is the store's, where no token may arrive
 */
function define(
  open: (env: Record<string, string>) => Promise<TestService>,
  isStore: (url: string) => boolean,
  kinds: readonly Kind[],
): void {
  let service: TestService;
  let builds: Record<Kind, Releases>;
  let web: Record<'old' | 'next', ShippedWebBuild>;

  beforeAll(async () => {
    service = await open({ TIERS });
    builds = await releaseEach(service, kinds, ['stable', 'closed']);
    const request = { application: 'web' };
    web = {
      old: await publishWebBuild(service, { version: '1.0.0', bytes: OLD }, request),
      next: await publishWebBuild(service, { version: '2.0.0', bytes: NEW }, request),
    };
    await service.refresh();
  });
  afterAll(() => service.close());

  describe.each(RANGE_MODES)('%s', (mode, config) => {
    it.each(kinds)('%s: downloads what changed', async (kind) => {
      const { old, next } = builds[kind];
      const client = await openClient(service, { kind, config, installed: old.file });
      expectDifferential(await update(client), next.file);
      const ranged = client.requests.filter(({ range }) => /^bytes=\d/.test(range ?? ''));
      expect(ranged.some(({ range }) => range?.includes(','))).toBe(mode === 'several ranges');
      expect(ranged.every(({ status }) => status === 206 || status === 302)).toBe(true);
    });

    it.each(kinds)('%s: with an access token, which never reaches the store', async (kind) => {
      const { old, next } = builds[kind];
      const { access } = await signIn(service);
      const client = await openClient(service, {
        kind,
        url: `${await service.listen()}/feeds/desktop/closed/electron`,
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

    // On macOS it downloads the whole file.
    it.each(kinds.filter((kind) => kind !== 'mac'))('%s: electron-updater 5', async (kind) => {
      const { old, next } = builds[kind];
      const options = { kind, config, installed: old.file, client: 'previous' } as const;
      expectDifferential(await update(await openClient(service, options)), next.file);
    });

    it('the package of a web installer', async () => {
      const client = await openClient(service, {
        kind: 'nsis',
        url: `${await service.listen()}/feeds/web/stable/electron`,
        config,
        installed: web.old.installer,
        installedPackage: web.old.package,
      });
      const updated = await update(client);
      expect(updated.package?.equals(web.next.package)).toBe(true);
      expectDifferential(updated, web.next.installer);
    });
  });

  it.each(kinds)('%s: the whole file for a machine without the old one', async (kind) => {
    const { bytes, received } = await update(await openClient(service, { kind }));
    expect(bytes.equals(builds[kind].next.file)).toBe(true);
    expect(received).toBeGreaterThan(bytes.length);
  });
}

describe('on a directory store', () =>
  define(
    (env) => createTestService({ store: 'directory', env }),
    // The service itself is the store, and may see the token.
    () => false,
    // The service reads both stores in the same way; electron-differential-rules has the other kinds on a directory.
    ['nsis'],
  ));

describeS3('on a real S3 server', (server) => {
  const bucket = useBucket(server);
  define(
    (env) => createTestService({ store: bucket.store(), env }),
    (url) => url.startsWith(server.endpoint),
    KINDS,
  );
});

let service: TestService;

describe('many ranges', () => {
  afterEach(() => service.close());

  it('are asked for in several requests, and all of them are answered', async () => {
    service = await createTestService({ store: 'directory' });
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
    expect(await countedDownloads()).toMatchObject({ differential: 1, not_known: 0 });
  });
});

/** A client with an address of its own needs no id: its requests look like one download. */
describe('one client without an id', () => {
  afterEach(() => service.close());

  const modes = RANGE_MODES.flatMap(([mode, config]) =>
    KINDS.map((kind) => [kind, mode, config] as const),
  );
  it.each(modes)('%s, %s: is one differential download', async (kind, _mode, config) => {
    service = await createTestService({ store: 'directory' });
    const { old, next } = await releaseTwo(service, kind);
    const client = await openClient(service, { kind, installed: old.file, config });
    expectDifferential(await update(client), next.file);
    expect(await countedDownloads()).toMatchObject({ differential: 1, whole: 0, not_known: 0 });
  });
});

describe('limits of the client itself', () => {
  afterEach(() => service.close());

  it.each(['deb', 'rpm', 'pacman'] as const)('%s: it downloads whole files', async (kind) => {
    service = await createTestService({ store: 'directory' });
    const { old, next } = await releaseTwo(service, kind);
    const client = await openClient(service, { kind, installed: old.file });
    const { bytes, received } = await update(client);
    expect(bytes.equals(next.file)).toBe(true);
    expect(received).toBeGreaterThan(bytes.length);
  });

  it('electron-updater 5 downloads the whole zip on macOS', async () => {
    service = await createTestService({ store: 'directory' });
    const { old, next } = await releaseTwo(service, 'mac');
    const options = { kind: 'mac', installed: old.file, client: 'previous' } as const;
    const { bytes, received } = await update(await openClient(service, options));
    expect(bytes.equals(next.file)).toBe(true);
    expect(received).toBeGreaterThan(next.file.length);
  });
});

/** Says how many bytes an update moves when the build is as it should be, and when Slipway mends it. */
describe('a build whose block maps are wrong', () => {
  afterEach(() => service.close());

  const clients = [
    ['nsis', 'current'],
    ['mac', 'current'],
    ['nsis', 'next'],
    ['mac', 'next'],
    ['nsis', 'previous'],
  ] as const;

  it.each(clients)('%s: is mended (electron-updater: %s)', async (kind, client) => {
    service = await createTestService({ store: 'directory' });
    const publish = (bytes: Buffer, version: string, map: 'none' | 'of other bytes') =>
      release(service, { kind, version, bytes, blockmap: map });
    const old = await publish(OLD, '1.0.0', 'none');
    expect(old.result.repairs).toMatchObject([{ kind: 'blockmap_made' }]);
    const next = await publish(NEW, '2.0.0', 'of other bytes');
    expect(next.result.repairs).toMatchObject([{ kind: 'blockmap_replaced' }]);
    const options = { kind, installed: old.file, client } as const;
    const updated = await update(await openClient(service, options));
    expectDifferential(updated, next.file);
    expect(await countedDownloads()).toEqual({
      differential: 1,
      whole: 0,
      resumed: 0,
      fallback: 0,
      not_known: 0,
    });
    console.log(`${kind}, ${client}: ${updated.received} of ${next.file.length} bytes`);
  });

  it('appimage: clients download the whole file, and the publisher is told', async () => {
    service = await createTestService({ store: 'directory' });
    const kind = 'appimage';
    const old = await release(service, { kind, version: '1.0.0', bytes: OLD });
    const build = { kind, version: '2.0.0', bytes: NEW, blockmap: 'of other bytes' } as const;
    const next = await release(service, build);
    expect(next.result.repairs).toMatchObject([{ kind: 'blockmap_ignored' }]);
    const client = await openClient(service, { kind, installed: old.file });
    expectWhole(await update(client), next.file, /./);
    expect(await countedDownloads()).toMatchObject({ whole: 1, fallback: 0 });
  });

  it.each([
    ['with an id, as one that fell back to the whole file', true, { fallback: 1, not_known: 0 }],
    ['without an id, as not known', false, { fallback: 0, not_known: 1 }],
  ])('counts a differential download that failed %s', async (_, sendsId, counted) => {
    service = await createTestService({ store: 'directory' });
    const { old, next } = await releaseTwo(service, 'nsis');
    // The client has other bytes than its release, so the parts do not fit together.
    const changed = seededBytes(old.file.length, 'changed on the disk');
    const options = { kind: 'nsis', installed: changed } as const;
    const client = await openClient(service, sendsId ? { ...options, ...named(1) } : options);
    expectWhole(await update(client), next.file, /fallback to full download/);
    expect(await countedDownloads()).toMatchObject({ differential: 1, whole: 0, ...counted });
  });
});

/** The application gives electron-updater an id of its own for all requests. */
const named = (n: number): Pick<ElectronClientOptions, 'configure'> => ({
  configure: (updater) => {
    updater.requestHeaders = { 'x-installation-id': `installation-${n}` };
  },
});

describe('twelve clients behind one address', () => {
  afterEach(() => service.close());

  /** Ten clients have the installed file, in several versions of electron-updater. The others download the whole file. */
  const updateTwelve = async (configure: (url: string, n: number) => object) => {
    service = await createTestService({ store: 'directory' });
    const { old, next } = await releaseTwo(service, 'nsis');
    const url = `${await service.listen()}/feeds/desktop/stable/electron`;
    for (let n = 0; n < 12; n++) {
      const options = { kind: 'nsis', ...(n < 10 ? { installed: old.file } : {}) } as const;
      const client = await openClient(service, { ...options, ...configure(url, n) });
      const updated = await update(client);
      if (n < 10) expectDifferential(updated, next.file);
      else expect(updated.bytes.equals(next.file)).toBe(true);
    }
    return countedDownloads();
  };
  const exact = { differential: 10, whole: 2, resumed: 0, fallback: 0, not_known: 0 };

  it('are counted exactly with an id in a header', async () => {
    expect(await updateTwelve((_url, n) => named(n))).toEqual(exact);
  });

  it('are counted exactly with an id in the address of the feed, which their links keep', async () => {
    const ids = (url: string, n: number) => ({
      url: `${url}?arch=x64&installation_id=client-${n}`,
    });
    expect(await updateTwelve(ids)).toEqual(exact);
  });

  it('are not known without an id', async () => {
    const counted = await updateTwelve(() => ({}));
    expect(counted.not_known).toBeGreaterThan(0);
    expect(counted).toMatchObject({ differential: counted.not_known, whole: 0, fallback: 0 });
  });
});

describe('a zip for macOS', () => {
  afterEach(() => service.close());

  it('moves much less when publishing repacked it', async () => {
    const moved = async (rezip: boolean): Promise<number> => {
      service = await createTestService({ store: 'directory' });
      const stored = async (version: string, bytes: Buffer): Promise<Buffer> => {
        const { filename } = await release(service, { kind: 'mac', version, bytes }, { rezip });
        const feed = `${await service.listen()}/feeds/desktop/stable/electron`;
        return Buffer.from(await (await fetch(`${feed}/${filename}`)).arrayBuffer());
      };
      const old = await stored('1.0.0', await macZip('1.0.0', FILES));
      const next = await stored('2.0.0', await macZip('2.0.0', edited(7, 120, 250)));
      const updated = await update(await openClient(service, { kind: 'mac', installed: old }));
      expect(updated.bytes.equals(next)).toBe(true);
      console.log(`rezip ${rezip}: ${updated.received} of ${next.length} bytes`);
      return updated.received;
    };
    const before = await moved(false);
    await service.close();
    expect(await moved(true)).toBeLessThan(before / 2);
  });
});

/** The downloads of 2.0.0 by kind, as Prometheus gets them. */
async function countedDownloads(): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const line of (await service.app.metrics.metrics()).split('\n')) {
    const found = /^slipway_downloads_total\{.*version="2\.0\.0".*kind="(\w+)".*\} (\d+)$/.exec(
      line,
    );
    if (found?.[1] !== undefined) counted[found[1]] = Number(found[2]);
  }
  return counted;
}
