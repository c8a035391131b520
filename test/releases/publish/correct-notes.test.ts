import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { channelEntries } from '../../../src/catalog/documents/revision-document.ts';
import { readManifest, readRevision } from '../../../src/catalog/reading/read.ts';
import type { AppError } from '../../../src/core/errors.ts';
import { showRelease } from '../../../src/releases/list/list-releases.ts';
import { correctNotes } from '../../../src/releases/publish/correct-notes.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeStatus, type StatusVerb } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { check, LATEST_VERSION, release as publishTo } from '../../server/support.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createTestService } from '../../support/service.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

type Parts = ReturnType<typeof createParts>;
let deps: Parts;
/** The same store without the faults: of another process. */
let others: Omit<Parts, 'store'> & { store: ReturnType<typeof createMemoryStore> };

function createParts(store: ReturnType<typeof createFaultyStore>) {
  return {
    ...{ store, clock: createFixedClock(), randomness: createSeededRandomness(1), actor: 'test' },
  };
}

beforeEach(async () => {
  const memory = createMemoryStore({ clock: createFixedClock() });
  deps = createParts(createFaultyStore(memory));
  others = { ...deps, store: memory };
  await add('windows', { notes: { und: 'Frist.', de: 'Esrte.' } });
});

async function add(
  what: 'windows' | 'linux' | 'macos',
  request: Partial<PublishRequest> = {},
  by: Parameters<typeof publish>[0] = others,
) {
  const format = { windows: 'nsis', linux: 'deb', macos: 'dmg' } as const;
  const artifact = await makeArtifact(`${temporary.path}/${what}`, {
    ...{ platform: what, format: format[what], filename: `App-${what}`, content: what },
  });
  return publish(by, { version: '1.0.0', artifacts: [artifact], ...request });
}

const correct = (
  set: Record<string, string>,
  remove: readonly string[] = [],
  by: Parameters<typeof correctNotes>[0] = deps,
) =>
  correctNotes(by, {
    ...{ application: 'desktop', version: '1.0.0', set, remove, reason: 'typing errors' },
  });
const setStatus = (verb: StatusVerb, channel?: string) =>
  changeStatus(others, verb, {
    ...{ application: 'desktop', version: '1.0.0', channel, reason: 'crashes' },
  });
const shown = async () => (await showRelease(others, 'desktop', '1.0.0')).release;
const offers = async () => {
  const { channels = {} } = (await readRevision(others, 'desktop'))?.signed ?? {};
  return channelEntries(channels).flatMap(([name, channel]) =>
    channel.offers.map((offer) => ({ name, offer })),
  );
};
const refusal = (work: Promise<unknown>): Promise<AppError | undefined> =>
  work.then(
    () => undefined,
    (error: AppError) => error,
  );

/** Lets another process act before the next object whose key contains `part` is created. */
function overtake(part: string, other: () => Promise<unknown>): void {
  deps.store.setPlan(async ({ method, key }) => {
    if (method !== 'create' || !key.includes(part)) return undefined;
    deps.store.setPlan(undefined);
    await other();
    return undefined;
  });
}

describe('a correction of the notes', () => {
  it('changes the notes and nothing else, in one manifest and one revision', async () => {
    const [old] = await offers();
    const release = await shown();
    const done = await correct({ und: 'First.', fr: 'Première.' }, ['de']);
    expect(done).toMatchObject({ changed: true, revision: 2, manifest: 2, channels: ['stable'] });
    expect(done.notes).toEqual([
      { locale: 'und', before: 'Frist.', after: 'First.' },
      { locale: 'fr', before: null, after: 'Première.' },
      { locale: 'de', before: 'Esrte.', after: null },
    ]);
    const notes = { und: 'First.', fr: 'Première.' };
    expect(await shown()).toEqual({ ...release, notes, notesRemoved: ['de'] });
    const [offer] = await offers();
    expect(offer).toEqual({
      name: 'stable',
      offer: { ...old?.offer, manifest: { number: 2, digest: expect.any(String) } },
    });
    expect((await readRevision(others, 'desktop'))?.signed.change).toEqual({
      ...{ kind: 'notes', version: '1.0.0', channels: ['stable'], targets: ['windows-x64'] },
      ...{ summary: 'fr, und; removes de', reason: 'typing errors' },
    });
  });

  it('changes nothing the second time', async () => {
    await correct({ und: 'First.' }, ['de']);
    expect(await correct({ und: 'First.' }, ['de'])).toMatchObject({ changed: false, revision: 2 });
  });

  it('treats languages without regard to case, and may add a removed one again', async () => {
    await correct({ DE: 'Erste.' });
    expect((await shown()).notes).toEqual({ und: 'Frist.', DE: 'Erste.' });
    await correct({}, ['de']);
    expect(await shown()).toMatchObject({ notes: { und: 'Frist.' }, notesRemoved: ['DE'] });
    await correct({ de: 'Erste.' });
    expect(await shown()).toMatchObject({
      ...{ notes: { und: 'Frist.', de: 'Erste.' }, notesRemoved: [] },
    });
  });

  it('keeps the files of each channel apart', async () => {
    const to = { application: 'desktop', version: '1.0.0', to: 'beta' };
    await promoteRelease(others, { ...to, create: true, allowPrerelease: false });
    await add('linux');
    const builds = async () =>
      (await offers()).map(({ name, offer }) => [
        name,
        offer.artifacts.map(({ os }) => os).join(),
        offer.manifest.number,
      ]);
    expect(await builds()).toEqual([
      ['stable', 'linux,windows', 2],
      ['beta', 'windows', 1],
    ]);
    expect((await correct({ und: 'First.' })).channels).toEqual(['stable', 'beta']);
    expect(await builds()).toEqual([
      ['stable', 'linux,windows', 4],
      ['beta', 'windows', 3],
    ]);
    const releases = await Promise.all(
      (await offers()).map(({ offer }) => readManifest(others, 'desktop', '1.0.0', offer.manifest)),
    );
    expect(releases.map(({ release }) => [release.notes.und, release.artifacts.length])).toEqual([
      ['First.', 2],
      ['First.', 1],
    ]);
    expect(
      (await promoteRelease(others, { ...to, create: true, allowPrerelease: false })).changed,
    ).toBe(true);
    expect((await builds())[1]).toEqual(['beta', 'linux,windows', 4]);
  });

  it('works for a paused release, which stays paused', async () => {
    await setStatus('pause');
    await correct({ und: 'First.' });
    expect((await offers()).map(({ offer }) => [offer.status, offer.reason])).toEqual([
      ['paused', 'crashes'],
    ]);
  });

  it('leaves the offer of a channel that yanked the release as it is', async () => {
    const to = { application: 'desktop', version: '1.0.0', to: 'beta', create: true };
    await promoteRelease(others, { ...to, allowPrerelease: false });
    await setStatus('yank', 'beta');
    expect((await correct({ und: 'First.' })).channels).toEqual(['stable']);
    expect((await offers()).map(({ offer }) => offer.manifest.number)).toEqual([2, 1]);
  });

  it('is refused for a release that is yanked, retired or unknown, with the reason', async () => {
    await setStatus('yank');
    expect(await refusal(correct({ und: 'First.' }))).toMatchObject({
      code: 'status_forbids',
      message:
        '1.0.0 was yanked from stable ("crashes"). No client sees its notes, and it is never offered again.',
    });
    await setStatus('retire');
    expect(await refusal(correct({ und: 'First.' }))).toMatchObject({
      code: 'status_forbids',
      message: expect.stringMatching(/^1\.0\.0 was retired from stable\. No client/),
    });
    const unknown = { application: 'desktop', version: '1.0.1', set: { und: 'x' }, remove: [] };
    expect(await refusal(correctNotes(deps, { ...unknown, reason: null }))).toMatchObject({
      code: 'unknown_version',
    });
  });

  it('is refused when it states nothing, contradicts itself, or removes what is not there', async () => {
    expect((await refusal(correct({})))?.message).toMatch(/^Nothing to correct: give --file or/);
    expect((await refusal(correct({ DE: 'x' }, ['de'])))?.message).toMatch(/both set and removed/);
    expect((await refusal(correct({}, ['fr'])))?.message).toBe(
      '1.0.0 has no notes in "fr". It has notes in: de, und.',
    );
    for await (const { key } of others.store.list('')) expect(key).not.toContain('manifest/2');
  });
});

describe('a publisher after a correction', () => {
  beforeEach(() => correct({ und: 'First.' }, ['de'], others));

  it('adds a platform, and keeps the corrected notes', async () => {
    expect((await add('linux')).changed).toBe(true);
    expect(await shown()).toMatchObject({ notes: { und: 'First.' }, notesRemoved: ['de'] });
    expect((await shown()).artifacts).toHaveLength(2);
  });

  it('cannot bring the old notes back, and learns the command that corrects them', async () => {
    expect(await refusal(add('linux', { notes: { und: 'Frist.' } }))).toMatchObject({
      code: 'release_differs',
      message:
        '1.0.0 has other notes ("First."). Leave out --notes-file. To correct the notes of a release that is out: slipway notes 1.0.0 --file FILE.',
    });
    expect((await refusal(add('linux', { notes: { De: 'Esrte.' } })))?.message).toBe(
      '1.0.0 had notes in De, and they were removed. Leave out --notes-file. To correct the notes of a release that is out: slipway notes 1.0.0 --file De=FILE.',
    );
    expect((await add('linux', { notes: { und: 'First.', fr: 'Première.' } })).changed).toBe(true);
    expect((await shown()).notes).toEqual({ und: 'First.', fr: 'Première.' });
  });
});

describe('a correction and a publisher at the same moment', () => {
  const expectBoth = async () => {
    expect((await shown()).notes).toEqual({ und: 'First.', de: 'Esrte.' });
    expect((await shown()).artifacts.map(({ platform }) => platform).sort()).toEqual([
      'linux',
      'windows',
    ]);
  };

  it.each(['/manifest/', '/catalog/'])(
    'lose nothing when the publisher is first with its %s',
    async (part) => {
      overtake(part, () => add('linux'));
      await correct({ und: 'First.' });
      await expectBoth();
    },
  );

  it.each(['/manifest/', '/catalog/'])(
    'lose nothing when the correction is first with its %s',
    async (part) => {
      overtake(part, () => correct({ und: 'First.' }, [], others));
      await add('linux', {}, deps);
      await expectBoth();
    },
  );

  it('lose nothing when the publisher makes its manifest between the two steps of the correction', async () => {
    // The publisher's manifest is newer, and has the notes that were offered when it was made.
    const publisher = { ...others, store: createFaultyStore(others.store) };
    let publishing: Promise<unknown> | undefined;
    overtake('/catalog/', async () => {
      await new Promise<void>((resolve) => {
        publisher.store.setPlan(async ({ method, key }) => {
          if (method !== 'create' || !key.includes('/catalog/')) return undefined;
          publisher.store.setPlan(undefined);
          resolve();
          // The correction commits first.
          await correcting;
          return undefined;
        });
        publishing = add('linux', {}, publisher);
      });
    });
    const correcting = correct({ und: 'First.' });
    await correcting;
    await publishing;
    await expectBoth();
  });

  it('lose nothing in a race of publishers and corrections', async () => {
    await Promise.all([
      add('linux'),
      correct({ und: 'First.' }),
      add('macos'),
      correct({ fr: 'Première.' }, ['de']),
    ]);
    expect(await shown()).toMatchObject({
      ...{ notes: { und: 'First.', fr: 'Première.' }, notesRemoved: ['de'] },
    });
    expect((await shown()).artifacts).toHaveLength(3);
  });

  it('is completed by a second run when it was killed between its two steps', async () => {
    deps.store.setPlan(({ method, key }) =>
      method === 'create' && key.includes('/catalog/') ? { when: 'before' } : undefined,
    );
    await expect(correct({ und: 'First.' })).rejects.toMatchObject({ code: 'outcome_unknown' });
    deps.store.setPlan(undefined);
    // A publisher that comes in between does not offer the notes of the killed correction.
    await add('linux');
    expect((await shown()).notes.und).toBe('Frist.');
    await correct({ und: 'First.' });
    await expectBoth();
  });
});

it('a running service answers with the corrected notes, under other ETags', async () => {
  const service = await createTestService();
  try {
    await publishTo(service, '1.1.0', ['windows x64 nsis'], { notes: { und: 'Frist.' } });
    const feed = '/feeds/desktop/stable/electron/latest.yml?arch=x64';
    const answers = async () => {
      const get = async (url: string) => service.app.http.inject({ method: 'GET', url });
      const [latest, yaml] = await Promise.all([
        get(`${LATEST_VERSION}?platform=windows&arch=x64`),
        get(feed),
      ]);
      const { body } = await check(service, {});
      return {
        texts: [body.notes, latest.json().notes, /releaseNotes: '(.*)'/.exec(yaml.body)?.[1]],
        etags: [latest.headers.etag, yaml.headers.etag],
      };
    };
    const old = await answers();
    expect(old.texts).toEqual(['Frist.', 'Frist.', 'Frist.']);
    await correctNotes(
      { ...service, actor: 'test' },
      {
        ...{ application: 'desktop', version: '1.1.0', remove: [], reason: null },
        set: { und: 'First.' },
      },
    );
    await service.refresh();
    const now = await answers();
    expect(now.texts).toEqual(['First.', 'First.', 'First.']);
    for (const [index, etag] of now.etags.entries()) {
      expect(etag).toEqual(expect.any(String));
      expect(etag).not.toBe(old.etags[index]);
    }
    const headers = { 'if-none-match': String(old.etags[1]) };
    const conditional = { method: 'GET', url: feed, headers } as const;
    expect((await service.app.http.inject(conditional)).statusCode).toBe(200);
  } finally {
    await service.close();
  }
});
