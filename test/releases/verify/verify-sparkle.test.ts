import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BuiltDocument } from '../../../src/builds/build-output.ts';
import { parseTarget } from '../../../src/domain/target.ts';
import { changeSettings } from '../../../src/releases/applications/change-settings.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { verifyCatalog } from '../../../src/releases/verify/verify-catalog.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { makeSparkleKey, type SparkleKey, signAppcast } from '../../support/sparkle-key.ts';

/** Sparkle's signatures are verified before anything is stored, and before a draft is offered. */

const OURS = makeSparkleKey();
const THEIRS = makeSparkleKey();
const CONTENT = 'the disk image';

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
  const first = await makeArtifact(directory.path, { content: 'the first program' });
  await publish(parts, { version: '0.1.0', artifacts: [first] });
});

const setKey = (key: SparkleKey | null) =>
  changeSettings(
    { ...parts, actor: 'test' },
    { application: 'desktop', stated: { sparklePubkey: key?.publicKey ?? null }, reason: null },
  );

const signed = (value: string) => [{ scheme: 'sparkle-ed25519' as const, keyId: '', value }];

interface Signed extends Partial<PublishRequest> {
  readonly value?: string;
  readonly delta?: string;
  readonly appcast?: string;
  readonly netSparkle?: readonly [string, string];
}

async function publishSigned({ value, delta, appcast, netSparkle, ...request }: Signed) {
  const file = `${directory.path}/App2-1.delta`;
  await writeFile(file, 'delta');
  const companion = { kind: 'delta' as const, base: '1', path: file, size: 5, stated: [] };
  const artifact = await makeArtifact(directory.path, {
    platform: 'macos',
    arch: 'universal',
    format: 'dmg',
    filename: 'App-1.0.0.dmg',
    content: CONTENT,
    signatures: value === undefined ? [] : signed(value),
    companions:
      delta === undefined
        ? []
        : [{ ...companion, filename: 'App2-1.delta', signatures: signed(delta) }],
  });
  const documents = [
    ...(appcast === undefined ? [] : [document('sparkle-appcast.xml', appcast)]),
    ...(netSparkle === undefined
      ? []
      : [
          document('netsparkle-appcast.xml', netSparkle[0]),
          document('netsparkle-appcast.xml.signature', netSparkle[1]),
        ]),
  ];
  const all = { version: '1.0.0', artifacts: [artifact], signed: documents };
  return publish(parts, { ...all, ...request });
}

function document(name: string, text: string): BuiltDocument {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const rest = { stagingPercentage: null, lists: [], elsewhere: [] };
  return { path: `/build/${name}`, name, bytes, size: bytes.length, sha256, ...rest };
}

const draft = { mode: 'draft', waitsFor: [parseTarget('windows-x64')] } as Partial<PublishRequest>;

async function keys(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { key } of store.list('')) found.push(key);
  return found;
}

describe('with a key', () => {
  beforeEach(async () => {
    await setKey(OURS);
  });

  it('takes files, deltas and appcasts that the key signed', async () => {
    const { edSignatures } = await publishSigned({
      value: OURS.sign(CONTENT),
      delta: OURS.sign('delta'),
      appcast: signAppcast('<rss/>\n', OURS),
      netSparkle: ['<rss/>', OURS.sign('<rss/>')],
    });
    expect(edSignatures).toEqual({ publicKey: OURS.publicKey, count: 4, unsigned: [] });
  });

  it.each<[string, Signed, RegExp]>([
    [
      'a file of another key',
      { value: THEIRS.sign(CONTENT) },
      /App-1\.0\.0\.dmg: .* does not verify its edSignature/,
    ],
    ['another file', { value: OURS.sign('other') }, /does not verify its edSignature of the file/],
    ['no signature at all', { value: 'junk' }, /does not verify its edSignature of the file/],
    [
      'a delta of another key',
      { value: OURS.sign(CONTENT), delta: THEIRS.sign('delta') },
      /App2-1\.delta: .* does not verify its edSignature/,
    ],
    [
      'a changed appcast',
      { appcast: signAppcast('<rss/>', OURS).replace('rss', 'RSS') },
      /the appcast/,
    ],
    ['an appcast of another key', { appcast: signAppcast('<rss/>', THEIRS) }, /the appcast/],
    [
      "NetSparkle's appcast of another key",
      { netSparkle: ['<a/>', THEIRS.sign('<a/>')] },
      /appcast/,
    ],
  ])('refuses %s, and stores nothing', async (_what, request, message) => {
    const before = await keys();
    await expect(publishSigned(request)).rejects.toThrow(message);
    expect(await keys()).toEqual(before);
  });

  it('completes a release whose jobs brought a signed appcast each', async () => {
    const expected = ['windows-x64', 'macos-arm64'].map(parseTarget);
    const program = await makeArtifact(directory.path, { filename: 'App-Setup-1.0.0.exe' });
    const first = await publishSigned({
      artifacts: [program],
      netSparkle: ['<rss/>', OURS.sign('<rss/>')],
      expect: expected,
    });
    expect(first.status).toBe('draft');
    const last = await publishSigned({
      value: OURS.sign(CONTENT),
      appcast: signAppcast('<rss/>\n', OURS),
      expect: expected,
    });
    expect(last.status).toBe('active');
    expect(last.release.carried.map(({ name }) => name)).toEqual([
      'netsparkle-appcast.xml',
      'netsparkle-appcast.xml.signature',
      'sparkle-appcast.xml',
    ]);
  });

  it('names files that clients with the key refuse', async () => {
    expect((await publishSigned({})).edSignatures.unsigned).toEqual(['App-1.0.0.dmg']);
  });

  it('reads stored signatures again when the catalog is verified', async () => {
    await publishSigned({
      value: OURS.sign(CONTENT),
      appcast: signAppcast('<rss/>', OURS),
      netSparkle: ['<a/>', OURS.sign('<a/>')],
    });
    const verify = () =>
      verifyCatalog({ ...parts, onProgress: () => {} }, { application: 'desktop', deep: true });
    expect((await verify()).applications[0]).toMatchObject({ problems: [], signaturesVerified: 3 });
    await setKey(THEIRS);
    expect((await verify()).applications[0]?.problems.toSorted()).toEqual([
      expect.stringMatching(/edSignature that the key .* does not verify/),
      expect.stringMatching(/^netsparkle-appcast\.xml of 1\.0\.0 has a signature that the key/),
      expect.stringMatching(/^sparkle-appcast\.xml of 1\.0\.0 has a signature that the key/),
    ]);
  });
});

describe('without a key', () => {
  it('stores signatures unverified', async () => {
    const { edSignatures } = await publishSigned({ value: THEIRS.sign('anything') });
    expect(edSignatures).toEqual({ publicKey: null, count: 1, unsigned: [] });
  });

  const open = () =>
    openDraft(
      { ...parts, actor: 'test', ensureConforming: async () => {}, onProgress: () => {} } as never,
      { application: 'desktop', channel: 'stable', version: '1.0.0', force: true } as never,
    );

  it.each<[string, Signed]>([
    ['a file', { value: THEIRS.sign(CONTENT) }],
    ['a delta', { value: OURS.sign(CONTENT), delta: THEIRS.sign('delta') }],
    ['an appcast', { appcast: signAppcast('<rss/>', THEIRS) }],
  ])(
    'a key that is set later keeps back a draft with %s of another key',
    async (_what, request) => {
      await publishSigned({ ...request, ...draft });
      await setKey(OURS);
      await expect(open()).rejects.toThrow(/edSignature that the key .* does not verify/);
      await setKey(THEIRS);
      if (request.delta === undefined)
        await expect(open()).resolves.toMatchObject({ changed: true });
    },
  );

  it('a draft whose file and delta are signed again is offered with the new signatures', async () => {
    await publishSigned({ value: THEIRS.sign(CONTENT), delta: THEIRS.sign('delta'), ...draft });
    await setKey(OURS);
    const value = OURS.sign(CONTENT);
    const delta = OURS.sign('delta');
    const { release } = await publishSigned({ value, delta, ...draft });
    expect(release.artifacts[0]?.companions[0]?.signatures).toEqual(signed(delta));
    await expect(open()).resolves.toMatchObject({ changed: true });
  });

  it('a draft is given the delta and the facts of the newest build', async () => {
    const facts = (bundleVersion: string) => ({ facts: { bundleVersion } });
    await publishSigned({ value: OURS.sign(CONTENT), delta: OURS.sign('delta'), ...draft });
    const file = `${directory.path}/App3-1.delta`;
    await writeFile(file, 'other');
    const companion = { kind: 'delta' as const, base: '1', path: file, size: 5, stated: [] };
    const artifact = async (bundleVersion: string, filename: string) =>
      makeArtifact(directory.path, {
        platform: 'macos',
        arch: 'universal',
        format: 'dmg',
        filename: 'App-1.0.0.dmg',
        content: CONTENT,
        companions: [{ ...companion, filename }],
        ...facts(bundleVersion),
      });
    await publish(parts, {
      version: '1.0.0',
      artifacts: [await artifact('41', 'App2-1.delta')],
      ...draft,
    });
    const artifacts = [await artifact('42', 'App3-1.delta')];
    const { release } = await publish(parts, { version: '1.0.0', artifacts, ...draft });
    expect(release.artifacts[0]).toMatchObject({
      bundleVersion: '42',
      companions: [{ filename: 'App3-1.delta' }],
    });
  });
});

it('adds a signature to a file that was published with one of another scheme', async () => {
  const tauri = { scheme: 'minisign' as const, keyId: 'A', value: 'tauri' };
  const file = (signatures: readonly (typeof tauri | ReturnType<typeof signed>[number])[]) =>
    makeArtifact(directory.path, {
      platform: 'macos',
      arch: 'universal',
      format: 'tar.gz',
      filename: 'App.app.tar.gz',
      content: CONTENT,
      signatures,
    });
  await publish(parts, { version: '1.0.0', artifacts: [await file([tauri])] });
  const sparkle = signed(OURS.sign(CONTENT));
  const { release } = await publish(parts, {
    version: '1.0.0',
    artifacts: [await file(sparkle)],
  });
  expect(release.artifacts[0]?.signatures).toEqual([tauri, ...sparkle]);
});

it('refuses another signature of a file or a delta that a channel offered', async () => {
  const value = OURS.sign(CONTENT);
  const delta = OURS.sign('delta');
  await publishSigned({ value, delta });
  await expect(publishSigned({ value, delta })).resolves.toMatchObject({ changed: false });
  const others = [
    { value: THEIRS.sign(CONTENT), delta },
    { value, delta: THEIRS.sign('delta') },
  ];
  for (const other of others) {
    await expect(publishSigned(other)).rejects.toMatchObject({ code: 'release_differs' });
  }
});

describe('the setting', () => {
  it.each([
    ['', /neither a public key of Sparkle/],
    ['AAAA', /neither a public key of Sparkle/],
    [Buffer.alloc(96, 7).toString('base64'), /This is a private key/],
    [Buffer.alloc(64, 7).toString('base64'), /This is a private key/],
    [Buffer.alloc(32, 0).toString('base64'), /are no public key of Ed25519/],
    [Buffer.alloc(32, 2).toString('base64'), /are no public key of Ed25519/],
  ])('refuses %j without repeating it', async (text, message) => {
    const stated = { sparklePubkey: text };
    const request = { application: 'desktop', stated, reason: null };
    const failure = changeSettings({ ...parts, actor: 'test' }, request);
    await expect(failure).rejects.toThrow(message);
    if (text !== '') await expect(failure).rejects.not.toThrow(text);
  });

  it('is shown, changed and removed', async () => {
    expect((await setKey(OURS)).settings.sparklePubkey?.text).toBe(OURS.publicKey);
    expect((await setKey(null)).settings.sparklePubkey).toBeNull();
  });
});
