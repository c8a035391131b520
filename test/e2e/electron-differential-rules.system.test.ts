import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { artifactKey } from '../../src/catalog/documents/keys.ts';
import { changeStatus, type StatusVerb } from '../../src/releases/withdraw/change-status.ts';
import { pathOf } from '../../src/store/filesystem/names.ts';
import { blockmapOf, type ShippedBuild, seededBytes } from '../support/electron-build.ts';
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

/** Rollouts, withdrawn releases, other channels and corrupt files, with differential downloads. */

let service: TestService;

beforeEach(async () => {
  service = await createTestService({ store: 'directory' });
});

afterEach(() => service.close());

async function change(verb: StatusVerb, version: string): Promise<void> {
  const request = { application: 'desktop', channel: undefined, reason: null };
  await changeStatus({ ...service, actor: 'test' }, verb, { ...request, version });
  await service.refresh();
}

/** Replaces the stored bytes of the artifact of a release, or of its block map. */
async function tamper(
  { result }: ShippedBuild,
  what: 'artifact' | 'blockmap',
  bytes: Buffer,
): Promise<void> {
  const [{ artifact } = { artifact: undefined }] = result.artifacts;
  const companion = artifact?.companions.find(({ kind }) => kind === 'blockmap');
  const stored = what === 'artifact' ? artifact?.object : companion?.object;
  const key = artifactKey('desktop', String(stored));
  await writeFile(pathOf(path.join(service.config.dataDirectory, 'objects'), key), bytes);
}

describe.each(RANGE_MODES)('corrupt files, %s', (_mode, config) => {
  it.each(['nsis', 'mac', 'appimage'] as const)(
    '%s: the client refuses a file that was tampered with, after the difference and after the whole file',
    async (kind) => {
      const { old, next } = await releaseTwo(service, kind);
      const changed = seededBytes(next.file.length, 'tampered');
      // The embedded block map stays: else the client would not even ask for the difference.
      next.file.copy(changed, next.file.length - 200_000, next.file.length - 200_000);
      await tamper(next, 'artifact', changed);
      const client = await openClient(service, { kind, config, installed: old.file });
      expect(await client.check()).toBe('2.0.0');
      await expect(client.download()).rejects.toMatchObject({ code: 'ERR_CHECKSUM_MISMATCH' });
      expect(client.log.join('\n')).toMatch(/fallback to full download: Error: sha512 checksum/);
    },
  );

  it('the client gets the right file in spite of a block map of other bytes', async () => {
    const { old, next } = await releaseTwo(service, 'nsis');
    // It claims that nothing has changed since the installed version, but for the size.
    const lie = await blockmapOf(
      Buffer.concat([old.file, Buffer.alloc(next.file.length - old.file.length)]),
    );
    await tamper(next, 'blockmap', lie);
    const client = await openClient(service, { kind: 'nsis', config, installed: old.file });
    expectWhole(await update(client), next.file, /fallback to full download: Error: sha512/);
  });

  it('the client gets the right file in spite of a block map that is no map', async () => {
    const { old, next } = await releaseTwo(service, 'nsis');
    await tamper(next, 'blockmap', seededBytes(20_000, 'no map'));
    const client = await openClient(service, { kind: 'nsis', config, installed: old.file });
    expectWhole(await update(client), next.file, /fallback to full download: Error: Cannot parse/);
  });
});

describe('a staged rollout', () => {
  it.each(['nsis', 'appimage', 'mac'] as const)(
    '%s: the clients that it reaches download what changed, and the others nothing',
    async (kind) => {
      const rollout = { text: '50%', freezeWindows: [] };
      const { old, next } = await releaseTwo(service, kind, { rollout });
      const seen = new Set<string | null>();
      for (let tries = 0; tries < 60 && seen.size < 2; tries++) {
        const client = await openClient(service, { kind, installed: old.file });
        const offered = await client.check();
        if (!seen.has(offered) && offered !== null) {
          expectDifferential(await update(client, offered), next.file);
        }
        seen.add(offered);
      }
      expect(seen).toEqual(new Set(['2.0.0', null]));
    },
  );
});

describe('a yanked release', () => {
  it.each(['nsis', 'mac'] as const)(
    '%s: its clients move forward, and download what changed by its old block map',
    async (kind) => {
      const { next: yanked } = await releaseTwo(service, kind);
      await change('yank', '2.0.0');
      const idle = await openClient(service, { kind, version: '2.0.0', installed: yanked.file });
      expect(await idle.check()).toBeNull();
      const fixed = await release(service, { kind, version: '2.0.1', bytes: OLD });
      const client = await openClient(service, { kind, version: '2.0.0', installed: yanked.file });
      expectDifferential(await update(client, '2.0.1'), fixed.file);
      const url = `${await service.listen()}/feeds/desktop/stable/electron/2.0.0/${yanked.filename}`;
      const statuses = await Promise.all(
        [url, `${url}.blockmap`].map(async (each) => (await fetch(each)).status),
      );
      expect(statuses).toEqual([410, 200]);
    },
  );
});

describe('channels', () => {
  const BETA = '1.1.0-beta.1';

  async function releaseBeta(): Promise<{
    readonly stable: ShippedBuild;
    readonly beta: ShippedBuild;
  }> {
    const kind = 'nsis';
    const stable = await release(service, { kind, version: '1.0.0', bytes: OLD });
    const build = { kind, version: BETA, bytes: NEW } as const;
    const beta = await release(service, build, { channel: 'beta' });
    return { stable, beta };
  }

  it('a client that moves from stable to beta by its configuration downloads what changed', async () => {
    const { stable, beta } = await releaseBeta();
    const config = { channel: 'beta' };
    const client = await openClient(service, { kind: 'nsis', config, installed: stable.file });
    expectDifferential(await update(client, BETA), beta.file);
  });

  it('a client that moves from beta back to stable downloads what changed', async () => {
    const { beta } = await releaseBeta();
    const final = await release(service, { kind: 'nsis', version: '1.1.0', bytes: OLD });
    const options = { kind: 'nsis', version: BETA, installed: beta.file } as const;
    expectDifferential(await update(await openClient(service, options), '1.1.0'), final.file);
  });
});

describe('what the client states about its version', () => {
  it.each([
    ['nothing', null],
    ['its version', '1.0.0'],
    ['four numbers, which are no version of a release', '1.0.0.4'],
    ['a word', 'development'],
  ])('%s: it downloads what changed', async (_what, stated) => {
    const { old, next } = await releaseTwo(service, 'nsis');
    const client = await openClient(service, {
      kind: 'nsis',
      installed: old.file,
      configure: (updater) => {
        updater.requestHeaders = stated === null ? null : { 'x-current-version': stated };
      },
    });
    expectDifferential(await update(client), next.file);
  });

  it.each([null, '2.0.0', '2.0.0.4'])('%j: the newest client finds no update', async (stated) => {
    await releaseTwo(service, 'nsis');
    const client = await openClient(service, {
      kind: 'nsis',
      version: '2.0.0',
      configure: (updater) => {
        updater.requestHeaders = stated === null ? null : { 'x-current-version': stated };
      },
    });
    expect(await client.check()).toBeNull();
    expect(client.requests.map(({ status }) => status)).toEqual([200]);
  });
});
