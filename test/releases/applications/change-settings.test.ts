import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manifestKey } from '../../../src/catalog/documents/keys.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { AppError } from '../../../src/core/errors.ts';
import { changeSettings } from '../../../src/releases/applications/change-settings.ts';
import { listApplications } from '../../../src/releases/applications/list-applications.ts';
import { changeChannel } from '../../../src/releases/channels/change-channel.ts';
import { verifyCatalog } from '../../../src/releases/verify/verify-catalog.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeMinisignKey, signMinisign } from '../../support/minisign-key.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** The settings of an application: one commit for each change. */

const OURS = makeMinisignKey(0x1111);
const THEIRS = makeMinisignKey(0x2222);

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let store: ObjectStore;
let deps: { store: ObjectStore; actor: string } & Pick<
  Parameters<typeof publish>[0],
  'clock' | 'randomness'
>;

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());
beforeEach(async () => {
  const clock = createFixedClock();
  store = createMemoryStore({ clock });
  deps = { store, clock, randomness: createSeededRandomness(1), actor: 'ada@build-7' };
  await publishSigned('1.0.0', THEIRS);
});

async function publishSigned(version: string, key = OURS): Promise<void> {
  const content = `program ${version}`;
  const value = signMinisign(key, content);
  const signatures = [{ scheme: 'minisign', keyId: key.keyId, value }] as const;
  const artifact = await makeArtifact(`${directory.path}/${version}`, { signatures, content });
  await publish(deps, { version, artifacts: [artifact] });
}

const set = (tauriPubkey: string | null, on = deps) =>
  changeSettings(on, { application: 'desktop', stated: { tauriPubkey }, reason: 'rotation' });

const signedNow = async () => (await readRevision({ store }, 'desktop'))?.signed;

describe('a key', () => {
  it('is stored with its history, and stays through other changes', async () => {
    const changed = await set(OURS.line);
    expect([changed.changed, changed.revision]).toEqual([true, 2]);
    expect(await signedNow()).toMatchObject({
      settings: { tauri_pubkey: OURS.pubkey },
      by: 'ada@build-7',
      change: {
        kind: 'settings',
        version: null,
        channels: [],
        targets: [],
        reason: 'rotation',
        summary: `set tauri pubkey ${OURS.keyId}`,
      },
    });
    await publishSigned('2.0.0');
    expect((await signedNow())?.settings).toEqual({ tauri_pubkey: OURS.pubkey });
    expect((await set(OURS.pubkey)).changed).toBe(false);
    await set(null);
    expect(await signedNow()).not.toHaveProperty('settings');
  });

  it('names the offered releases with signatures of another key, and those that cannot be read', async () => {
    await set(OURS.pubkey);
    await publishSigned('2.0.0');
    await set(null);
    await publishSigned('3.0.0', THEIRS);
    await publishSigned('4.0.0', THEIRS);
    const yanked = { application: 'desktop', channel: undefined, reason: null, version: '4.0.0' };
    await changeStatus(deps, 'yank', yanked);
    const other = { filenames: ['App-Setup.exe'], keyIds: [THEIRS.keyId] };
    expect((await set(OURS.pubkey)).otherKeys).toEqual([
      { version: '3.0.0', ...other },
      { version: '1.0.0', ...other },
    ]);
    await store.delete(manifestKey('desktop', '3.0.0', 1));
    expect(await set(OURS.pubkey)).toMatchObject({
      changed: false,
      otherKeys: [{ version: '1.0.0' }],
      unreadable: ['3.0.0'],
    });
  });

  it('is refused before anything is written', async () => {
    await expect(set('no key')).rejects.toMatchObject({ code: 'invalid_request' });
    const unknown = { application: 'dekstop', stated: { tauriPubkey: OURS.pubkey }, reason: null };
    await expect(changeSettings(deps, unknown)).rejects.toMatchObject({
      code: 'unknown_application',
      message: expect.stringContaining('Did you mean desktop?'),
    });
    expect((await signedNow())?.revision).toBe(1);
  });

  it('is not set when the store fails while the releases are read', async () => {
    const outage = new AppError('store_unavailable', 'The store does not answer.');
    const key = manifestKey('desktop', '1.0.0', 1);
    const failing: ObjectStore = {
      ...store,
      get: (asked, options) => (asked === key ? Promise.reject(outage) : store.get(asked, options)),
    };
    await expect(set(OURS.pubkey, { ...deps, store: failing })).rejects.toBe(outage);
    expect((await signedNow())?.revision).toBe(1);
  });

  it('survives two writers at the same time, and so does what the other one wrote', async () => {
    const writers = [1, 2, 3].map((seed) => ({
      ...deps,
      randomness: createSeededRandomness(seed),
    }));
    const [one = deps, two = deps, three = deps] = writers;
    const channel = { application: 'desktop', channel: 'beta', reason: null };
    const create = { kind: 'create', settings: {}, create: false } as const;
    await Promise.all([
      set(OURS.pubkey, one),
      set(THEIRS.pubkey, two),
      changeChannel(
        { ...three, ensureConforming: async () => undefined },
        { ...channel, action: create },
      ),
    ]);
    const signed = await signedNow();
    expect(signed?.revision).toBe(4);
    expect(Object.keys(signed?.channels ?? {})).toEqual(['beta', 'stable']);
    expect([OURS.pubkey, THEIRS.pubkey]).toContain(signed?.settings?.tauri_pubkey);
  });
});

describe('the list of applications', () => {
  it('has the newest offered release and the settings of each', async () => {
    await set(OURS.pubkey);
    const tool = await makeArtifact(directory.path, { filename: 'Tool.exe' });
    await publish(deps, { application: 'tool', version: '0.1.0', artifacts: [tool] });
    expect(await listApplications(deps, undefined)).toMatchObject([
      {
        application: 'desktop',
        revision: 2,
        channels: ['stable'],
        newest: { version: '1.0.0', channel: 'stable' },
        settings: { tauriPubkey: { keyId: OURS.keyId } },
      },
      { application: 'tool', revision: 1, settings: { tauriPubkey: null } },
    ]);
    expect(await listApplications(deps, 'tool')).toHaveLength(1);
    await expect(listApplications(deps, 'tol')).rejects.toMatchObject({
      code: 'unknown_application',
    });
  });
});

it.each([
  [{ tauri_pubkey: 'junk' }, /is not a minisign key: .* Restore it from a backup/],
  [{ display_name: 'Acme\nNotes' }, /display name .* is not one .* Restore it from a backup/],
  [{ display_name: '' }, /display name .* is not one .* Restore it from a backup/],
])('reports the stored settings %j as corrupt, and changes nothing', async (settings, message) => {
  const change = { kind: 'settings', version: null, channels: [], reason: null } as const;
  await changeCatalog(deps, 'desktop', (channels) => ({
    plan: undefined,
    edit: { change, channels, settings },
  }));
  const before = await signedNow();
  await expect(set(OURS.pubkey)).rejects.toMatchObject({ code: 'document_corrupt' });
  expect(await signedNow()).toEqual(before);
  const problem = expect.stringMatching(message);
  expect(await listApplications(deps, undefined)).toEqual([{ application: 'desktop', problem }]);
  const verified = await verifyCatalog(
    { store, onProgress: () => undefined },
    { application: undefined, deep: true },
  );
  expect(verified.applications).toMatchObject([{ filesChecked: 1, problems: [problem] }]);
});
