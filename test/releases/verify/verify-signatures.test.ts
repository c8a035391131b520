import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseTarget } from '../../../src/domain/target.ts';
import { changeSettings } from '../../../src/releases/applications/change-settings.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { verifyCatalog } from '../../../src/releases/verify/verify-catalog.ts';
import { isValidSignature } from '../../../src/releases/verify/verify-signatures.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { type MinisignKey, makeMinisignKey, signMinisign } from '../../support/minisign-key.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { SIGNATURE_FOR_ANY_FILE, WEAK_ED_KEYS } from '../../support/weak-ed-keys.ts';

/** Signatures are verified before anything is stored. */

const OURS = makeMinisignKey(0x1111);
const THEIRS = makeMinisignKey(0x2222);
const CONTENT = 'the program';
const COMMENT = 'timestamp:1\tfile:App-Setup.exe\tversion:1.0.0';

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let store: ObjectStore;
let parts: { store: ObjectStore } & Pick<Parameters<typeof publish>[0], 'clock' | 'randomness'>;

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
});
afterAll(() => directory.remove());
beforeEach(async () => {
  const clock = createFixedClock();
  store = createMemoryStore({ clock });
  parts = { store, clock, randomness: createSeededRandomness(1) };
  // The application exists before its first signed release.
  const first = await makeArtifact(directory.path, { content: 'the first program' });
  await publish(parts, { version: '0.1.0', artifacts: [first] });
});

const setKey = (key: MinisignKey | null, on = parts) =>
  changeSettings(
    { ...on, actor: 'test' },
    { application: 'desktop', stated: { tauriPubkey: key?.pubkey ?? null }, reason: null },
  );

async function publishSigned(value: string, version = '1.0.0', content = CONTENT) {
  const signatures = [{ scheme: 'minisign', keyId: '', value }] as const;
  const artifact = await makeArtifact(`${directory.path}/${version}`, { signatures, content });
  return publish(parts, { version, artifacts: [artifact] });
}

async function keysIn(prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

describe('with a key', () => {
  beforeEach(async () => {
    await setKey(OURS);
  });

  it.each(['ED', 'Ed'] as const)('takes what the signer wrote: %s', async (algorithm) => {
    const signed = signMinisign(OURS, CONTENT, { comment: COMMENT, algorithm });
    expect((await publishSigned(signed)).signatures).toEqual({
      keyId: OURS.keyId,
      count: 1,
      withoutVersion: [],
    });
  });

  it('names the files whose signature states no version', async () => {
    const result = await publishSigned(signMinisign(OURS, CONTENT));
    expect(result.signatures.withoutVersion).toEqual(['App-Setup.exe']);
  });

  const good = signMinisign(OURS, CONTENT, { comment: COMMENT });
  it.each([
    [
      'of another key',
      signMinisign(THEIRS, CONTENT),
      /it was made with the key 0+2222, and desktop has/,
    ],
    [
      'of another key that claims the id of ours',
      signMinisign({ ...THEIRS, id: OURS.id }, CONTENT),
      /it is not a signature of this file/,
    ],
    ['of another file', signMinisign(OURS, 'another'), /the file was changed after it was signed/],
    [
      'of another file, in the legacy way',
      signMinisign(OURS, 'another', { algorithm: 'Ed' }),
      /it is not a signature of this file/,
    ],
    [
      'with another comment',
      signMinisign(OURS, CONTENT, { comment: COMMENT, shown: COMMENT.replace('1.0.0', '9.0.0') }),
      /its trusted comment was changed/,
    ],
    ['with a line break after it', `${good}\n`, /without white space/],
    ['of another kind', 'the .sig', /it is not a signature as the client reads it/],
  ])('refuses a signature %s, and stores nothing', async (_what, value, message) => {
    const before = await keysIn('');
    await expect(publishSigned(value)).rejects.toMatchObject({
      code: 'invalid_artifact',
      message: expect.stringMatching(message),
    });
    expect(await keysIn('')).toEqual(before);
  });

  it('refuses the commit when another process set another key meanwhile', async () => {
    let isFirst = true;
    const racing: ObjectStore = {
      ...store,
      upload: async (...given: Parameters<ObjectStore['upload']>) => {
        if (isFirst) await setKey(THEIRS);
        isFirst = false;
        return store.upload(...given);
      },
    };
    const raced = { ...parts, store: racing };
    const signatures = [{ scheme: 'minisign', keyId: '', value: good }] as const;
    const artifact = await makeArtifact(directory.path, { signatures });
    await expect(publish(raced, { version: '1.0.0', artifacts: [artifact] })).rejects.toMatchObject(
      { code: 'status_forbids', message: expect.stringMatching(/set the public key 0+2222/) },
    );
    expect((await keysIn('apps/desktop/')).some((key) => key.includes('1.0.0'))).toBe(false);
  });
});

describe('a key for which an attacker can sign', () => {
  it.each(WEAK_ED_KEYS.map((bytes) => bytes.toString('hex')))('%s is not set', async (hex) => {
    const pubkey = Buffer.concat([Buffer.from('Ed'), OURS.id, Buffer.from(hex, 'hex')]);
    const before = await keysIn('');
    await expect(setKey({ ...OURS, pubkey: pubkey.toString('base64') })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^The key 0+1111 is no public key of Ed25519, or an attacker/),
    });
    expect(await keysIn('')).toEqual(before);
  });

  it('verifies nothing, when an earlier version stored it', () => {
    for (const bytes of WEAK_ED_KEYS) {
      for (const file of ['a', 'b', 'c', 'd']) {
        const signature = SIGNATURE_FOR_ANY_FILE;
        const forged = { algorithm: 'Ed', keyId: '', trustedComment: '' } as const;
        const key = { keyId: '', bytes, text: '' };
        const given = { ...forged, signature, globalSignature: signature };
        expect(isValidSignature(Buffer.from(file), given, key)).toBe(false);
      }
    }
  });
});

describe('a draft from before the key was set', () => {
  const open = (on: ObjectStore = store) =>
    openDraft(
      { ...parts, store: on, actor: 'test' },
      { application: 'desktop', version: '1.0.0', channel: 'stable', allowPrerelease: false },
    );
  const draft = async (value: string, name: string, more: Partial<PublishRequest>) => {
    const signatures = [{ scheme: 'minisign', keyId: '', value }] as const;
    const build = { signatures, filename: name, content: name, platform: 'linux' } as const;
    const artifact = await makeArtifact(directory.path, { ...build, format: 'appimage' });
    return publish(parts, { version: '1.0.0', artifacts: [artifact], ...more });
  };

  it('is opened only with signatures of the key', async () => {
    await draft(signMinisign(THEIRS, 'App.AppImage'), 'App.AppImage', { mode: 'draft' });
    await setKey(OURS);
    const message = expect.stringMatching(/^App\.AppImage of 1\.0\.0 is signed with the key/);
    await expect(open()).rejects.toMatchObject({ code: 'invalid_artifact', message });
    await draft(signMinisign(OURS, 'App.AppImage'), 'App.AppImage', { mode: 'draft' });
    expect((await open()).status).toBe('active');
  });

  it.each(['ED', 'Ed'] as const)('is not opened with a file that was changed: %s', async (kind) => {
    const sign = (content: string) => signMinisign(OURS, content, { algorithm: kind });
    await draft(sign('another program'), 'App.AppImage', { mode: 'draft' });
    await setKey(OURS);
    const before = await keysIn('');
    await expect(open()).rejects.toMatchObject({
      code: 'invalid_artifact',
      message: expect.stringMatching(
        /^App\.AppImage of 1\.0\.0 has .* not of this file: .*Sign App/,
      ),
    });
    expect(await keysIn('')).toEqual(before);
    await draft(sign('App.AppImage'), 'App.AppImage', { mode: 'draft' });
    expect((await open()).status).toBe('active');
  });

  it('is not opened when the file is missing, or has other bytes than its manifest states', async () => {
    await draft(signMinisign(OURS, 'App.AppImage'), 'App.AppImage', { mode: 'draft' });
    await setKey(OURS);
    const reading = (content: string | undefined): ObjectStore => ({
      ...store,
      read: async (key, ...rest) => {
        const object = await store.read(key, ...rest);
        if (!key.endsWith('/App.AppImage') || object === undefined) return object;
        if (content === undefined) return undefined;
        return { ...object, stream: Readable.from([Buffer.from(content)]) };
      },
    });
    const code = 'artifact_mismatch';
    await expect(open(reading(undefined))).rejects.toMatchObject({ code });
    await expect(open(reading('other bytes'))).rejects.toMatchObject({ code });
    expect((await open()).status).toBe('active');
  });

  it('is not opened when another process sets a key that its files are not of', async () => {
    await draft(signMinisign(OURS, 'another program'), 'App.AppImage', { mode: 'draft' });
    let isFirst = true;
    const racing: ObjectStore = {
      ...store,
      create: async (key, ...rest) => {
        if (isFirst) {
          isFirst = false;
          await setKey(OURS);
        }
        return store.create(key, ...rest);
      },
    };
    await expect(open(racing)).rejects.toThrow(
      /^App\.AppImage of 1\.0\.0 has a signature that is not of this file/,
    );
    expect(isFirst).toBe(false);
  });

  it('is not completed with a file that was changed, and reads no file twice', async () => {
    const expected = { expect: [parseTarget('linux-x64'), parseTarget('windows-x64')] };
    await draft(signMinisign(OURS, 'another program'), 'App.AppImage', expected);
    await setKey(OURS);
    const before = await keysIn('');
    await expect(publishSigned(signMinisign(OURS, CONTENT))).rejects.toThrow(/not of this file/);
    expect(await keysIn('')).toEqual(before);
    await draft(signMinisign(OURS, 'App.AppImage'), 'App.AppImage', expected);
    const readFiles: string[] = [];
    parts.store = {
      ...store,
      read: (key, ...rest) => {
        if (key.includes('/artifacts/')) readFiles.push(key);
        return store.read(key, ...rest);
      },
    };
    expect((await publishSigned(signMinisign(OURS, CONTENT))).held).toBeNull();
    expect(readFiles).toEqual([expect.stringMatching(/App\.AppImage$/)]);
  });

  it('is not completed by a publisher of another platform', async () => {
    const expected = { expect: [parseTarget('linux-x64'), parseTarget('windows-x64')] };
    await draft(signMinisign(THEIRS, 'App.AppImage'), 'App.AppImage', expected);
    await setKey(OURS);
    const before = await keysIn('');
    await expect(publishSigned(signMinisign(OURS, CONTENT))).rejects.toThrow(
      /^App\.AppImage of 1\.0\.0 is signed with the key/,
    );
    expect(await keysIn('')).toEqual(before);
  });
});

describe('without a key', () => {
  it('verifies nothing, and says so', async () => {
    const { signatures } = await publishSigned(signMinisign(THEIRS, 'another'));
    expect(signatures).toEqual({ keyId: null, count: 1, withoutVersion: ['App-Setup.exe'] });
  });
});

describe('verify --deep', () => {
  const verifyDeep = async () => {
    const { applications } = await verifyCatalog(
      { store, onProgress: () => undefined },
      { application: 'desktop', deep: true },
    );
    return [applications[0]?.signaturesVerified, applications[0]?.problems];
  };

  it('verifies the signatures of the key, and leaves out those of an older one', async () => {
    await publishSigned(signMinisign(OURS, CONTENT, { comment: COMMENT }));
    const second = 'second program';
    await publishSigned(signMinisign(THEIRS, second), '2.0.0', second);
    expect(await verifyDeep()).toEqual([0, []]);
    await setKey(OURS);
    expect(await verifyDeep()).toEqual([1, []]);
  });

  it.each([
    ['older', 'another', CONTENT],
    ['newer', CONTENT, 'another'],
  ])('verifies the signatures of every release with a file: the %s is wrong', async (...given) => {
    const [, older, newer] = given;
    await publishSigned(signMinisign(OURS, older));
    await publishSigned(signMinisign(OURS, newer), '2.0.0');
    await setKey(OURS);
    expect(await verifyDeep()).toEqual([
      0,
      [expect.stringMatching(/the key 0+1111 does not verify/)],
    ]);
  });

  it('finds a signature that was published without verification', async () => {
    await publishSigned(signMinisign(OURS, 'another'));
    await setKey(OURS);
    expect(await verifyDeep()).toEqual([
      0,
      [expect.stringMatching(/the key 0+1111 does not verify/)],
    ]);
  });
});
