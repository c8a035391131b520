import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { changeCatalog, type WriterDeps } from '../../../src/catalog/change.ts';
import {
  type ChannelJson,
  type OfferJson,
  offerJsonOf,
  type RevisionJson,
} from '../../../src/catalog/documents/revision-document.ts';
import {
  delegationsKey,
  freshnessPrefix,
  revisionKey,
  rootKey,
} from '../../../src/catalog/keys.ts';
import type { Catalog } from '../../../src/catalog/memory/catalog.ts';
import { readManifest, readRevision } from '../../../src/catalog/read.ts';
import { signRevision } from '../../../src/catalog/trust/revision-signature.ts';
import type { TrustRoot } from '../../../src/catalog/trust/root.ts';
import { renewFreshness } from '../../../src/catalog/trust/signing.ts';
import { commitRoot, signRoot } from '../../../src/features/trust/change-root.ts';
import { openDraft } from '../../../src/releases/drafts/open-draft.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import {
  describeWaiting,
  readWaiting,
  signWaiting,
} from '../../../src/releases/trust/sign-draft.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { digestOf } from '../../../src/store/sequence/envelope.ts';
import { listKeys } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import {
  contentOfRoot,
  FRESH_MS,
  initTrust,
  keysOf,
  makeSigner,
  trusting,
} from '../../support/trust.ts';
import {
  createWorld,
  offered,
  POLL_MS,
  problemsOf,
  useCatalogs,
  type World,
} from '../memory/live-catalog.ts';

/** The first page of docs/operations/trust.md: each cell of its table is a test here. */

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const catalogs = useCatalogs();

const [k1, k2, k3] = [makeSigner('k1'), makeSigner('k2', 'p256'), makeSigner('k3')];
const ci = makeSigner('ci');
const stranger = makeSigner('stranger');

let world: World;
let root: TrustRoot;

/** The dependencies of a publisher with these keys. */
function publisher(...signers: Parameters<typeof trusting>[2][]): WriterDeps & {
  trust: ReturnType<typeof trusting>;
} {
  return { ...world.parts, actor: 'test', trust: trusting(world.parts, [root], ...signers) };
}

const start = (stateDirectory?: string): Promise<Catalog> =>
  catalogs.start(world, {
    trust: trusting(world, [root]),
    ...(stateDirectory === undefined ? {} : { stateDirectory }),
  });

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('There is no such thing.');
  return value;
}
const stableIn = (signed: RevisionJson, channel = 'stable') => must(signed.channels[channel]);
const offerIn = (signed: RevisionJson, index: number, channel?: string) =>
  must(stableIn(signed, channel).offers[index]);
const present = async () => must(await readRevision(publisher(), 'desktop')).signed;

/** What a client gets of a process that remembers nothing. */
async function offeredCold(): Promise<string> {
  const catalog = await start();
  try {
    return await offered(catalog);
  } finally {
    await catalog.stop();
  }
}

/** Lets a running process look for changes. The log and the health have a failure. */
const look = (catalog: Catalog): Promise<void> => catalog.refresh().catch(() => undefined);

const artifactOf = async (version: string) =>
  makeArtifact(temporary.path, { filename: `App-${version}.exe`, content: `program ${version}` });

/** Publishes to beta, whose only key is the key of CI. */
async function publishBeta(version: string): Promise<void> {
  const artifacts = [await artifactOf(version)];
  await publish(
    { ...world.parts, trust: publisher(ci).trust },
    { version, artifacts, channel: 'beta' },
  );
}

/** Publishes a draft to stable with the key of CI, and lets people sign it. */
async function publishStable(version: string, ...people: Parameters<typeof trusting>[2][]) {
  const artifacts = [await artifactOf(version)];
  await publish({ ...world.parts, trust: publisher(ci).trust }, { version, artifacts });
  for (const person of people) await signDraft(version, person);
}

async function signDraft(
  version: string,
  person: Parameters<typeof trusting>[2],
): Promise<boolean> {
  const deps = publisher(person);
  const trust = deps.trust.of('desktop');
  if (trust === undefined) throw new Error('No root');
  const waiting = await readWaiting(deps, trust, { channel: 'stable', version });
  if (waiting === undefined) throw new Error(`${version} is offered already`);
  const { role } = await signWaiting(deps, trust, waiting, [person]);
  if (role === undefined) return false;
  await openDraft(
    { ...deps, signedRoles: { stable: role } },
    { application: 'desktop', channel: 'stable', version, allowPrerelease: true },
  );
  return true;
}

/** Yanks 1.1.0 with the key of CI. */
const yank = () =>
  changeStatus(publisher(ci), 'yank', {
    application: 'desktop',
    version: '1.1.0',
    channel: undefined,
    reason: 'x',
  });

const newestNumber = async (): Promise<number> =>
  (await listKeys(world.memory, 'apps/desktop/catalog/')).length;

/** Rewrites a revision as an attacker does: the digest is right, and so is the chain. */
async function forge(
  edit: (signed: RevisionJson) => void,
  { signer, number }: { signer?: Parameters<typeof signRevision>[0]; number?: number } = {},
): Promise<void> {
  const last = await newestNumber();
  const before = JSON.parse(String(await text(revisionKey('desktop', last))));
  const signed = structuredClone(before.signed);
  const target = number ?? last + 1;
  if (target > last) {
    signed.revision = target;
    signed.previous = { revision: last, digest: before.digest };
  }
  edit(signed);
  const digest = digestOf(signed);
  const signatures =
    signer === undefined ? before.signatures : [await signRevision(signer, digest)];
  await world.tamper(revisionKey('desktop', target), () =>
    JSON.stringify({ signed, digest, signatures }),
  );
}

const text = async (key: string): Promise<string | undefined> => {
  const object = await world.memory.get(key);
  return object && Buffer.from(object.body).toString();
};

beforeEach(async () => {
  world = createWorld();
  root = await initTrust(
    world.parts,
    {
      people: keysOf(2, k1, k2, k3),
      operators: [ci, k1],
      channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, ci) },
    },
    k1,
    k2,
  );
  await publishStable('1.0.0', k1, k2);
  await publishStable('1.1.0', k2, k3);
});

describe('an attacker with the bucket', () => {
  it.each<[string, (offer: OfferJson, signed: RevisionJson) => void]>([
    ['publishes no release', (offer) => Object.assign(offer, { version: '9.0.0' })],
    ['relabels none', (offer) => Object.assign(offer, { requires: '>=5.0.0' })],
    [
      'raises no rollout',
      (offer) => Object.assign(offer, { status: 'active', rollout: undefined }),
    ],
    [
      'changes no inheritance',
      (_, signed) => Object.assign(stableIn(signed), { inherits: 'beta' }),
    ],
    [
      'changes no settings',
      (_, signed) => Object.assign(signed, { settings: { display_name: 'Evil' } }),
    ],
    ['removes no signature', (_, signed) => Object.assign(signed, { trust: undefined })],
  ])('%s', async (_name, edit) => {
    for (const signer of [undefined, stranger]) {
      const warm = await start();
      expect(await offered(warm)).toBe('1.1.0');
      const change = (signed: RevisionJson) => edit(offerIn(signed, 0), signed);
      await forge(change, signer === undefined ? {} : { signer });
      await look(warm);
      expect(await offered(warm)).toBe('1.1.0');
      expect(problemsOf(warm)).toMatch(/is not signed|no valid signature/);
      const cold = await start();
      // The newest revision may have been a withdrawal, so nobody answers from the one before it.
      await expect(offered(cold)).rejects.toThrow('could not be loaded');
      await Promise.all([warm.stop(), cold.stop()]);
      await expect(readRevision(publisher(), 'desktop')).rejects.toThrow(
        /not signed|no valid signature/,
      );
      await world.memory.delete(revisionKey('desktop', await newestNumber()));
    }
  });

  it('plants no application, and takes none out of the list', async () => {
    await publish(world.parts, {
      application: 'evil',
      version: '1.0.0',
      artifacts: [await artifactOf('1')],
    });
    const catalog = await start();
    expect(() => catalog.application('evil')).toThrow('There is no application "evil" here.');
    expect(problemsOf(catalog)).toContain('TRUST_ROOT has no root for evil');
    await world.tamper('applications/3.json', (all) => all);
    for (const key of await listKeys(world.memory, 'applications/')) await world.memory.delete(key);
    for (const key of await listKeys(world.memory, 'changes/')) await world.memory.delete(key);
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('takes back no process that saw more, also after a restart with its saved state', async () => {
    const state = await makeTemporaryDirectory();
    const warm = await start(state.path);
    const old = await newestNumber();
    await yank();
    await look(warm);
    expect(await offered(warm)).toBe('1.0.0');
    await expect
      .poll(async () => {
        await world.clock.advance(POLL_MS);
        return (await listFiles(state.path)).some((file) => file.endsWith(`/${old + 1}.catalog`));
      })
      .toBe(true);
    await world.memory.delete(revisionKey('desktop', old + 1));
    const [, newest] = (await listKeys(world.memory, freshnessPrefix('desktop'))).slice(-2);
    await world.memory.delete(String(newest));
    await world.clock.advance(200_000);
    expect(await offered(warm)).toBe('1.0.0');
    await warm.stop();
    expect(await offered(await start(state.path))).toBe('1.0.0');
    await state.remove();
  });

  it('shows a process without memory at most a state as old as an unexpired timestamp', async () => {
    const old = await newestNumber();
    const before = await listKeys(world.memory, freshnessPrefix('desktop'));
    await world.clock.advance(FRESH_MS - 86_400_000);
    await yank();
    await world.memory.delete(revisionKey('desktop', old + 1));
    // The timestamp names the deleted revision, and so does the hint.
    await expect(offeredCold()).rejects.toThrow('could not be loaded');
    for (const key of await listKeys(world.memory, 'changes/')) await world.memory.delete(key);
    await expect(offeredCold()).rejects.toThrow('could not be loaded');
    for (const key of await listKeys(world.memory, freshnessPrefix('desktop'))) {
      if (!before.includes(key)) await world.memory.delete(key);
    }
    expect(await offeredCold()).toBe('1.1.0');
    await world.clock.advance(2 * 86_400_000);
    await expect(offeredCold()).rejects.toThrow(/not known to be new.*trust renew/);
  });

  it('makes no old state new: only an operator who has seen the state signs another timestamp', async () => {
    await world.clock.advance(FRESH_MS + 1);
    await expect(offeredCold()).rejects.toThrow('slipway trust renew');
    const newest = must(await readRevision(publisher(), 'desktop'));
    const { revision, trust } = newest.signed;
    const state = { revision, digest: newest.digest, trust: must(trust) };
    await expect(renewFreshness(publisher(stranger), 'desktop', state)).rejects.toThrow(
      'no operator',
    );
    await renewFreshness(publisher(ci), 'desktop', state);
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('brings back no removed key by deleting the newer root, where a timestamp names that root', async () => {
    await removeCi();
    const number = await newestNumber();
    await world.memory.delete(rootKey('desktop', 2));
    await world.memory.delete(delegationsKey('desktop', 2));
    await world.memory.delete(revisionKey('desktop', number));
    await forge(() => undefined, { signer: ci, number });
    await expect(offeredCold()).rejects.toThrow();
  });
});

/** Removes the key of CI from the operators and from beta. */
async function removeCi(): Promise<void> {
  const options = {
    people: keysOf(2, k1, k2, k3),
    operators: [k1],
    channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, k1) },
  };
  const previous = contentOfRoot(world.parts, { ...options, operators: [ci, k1] });
  const content = {
    ...contentOfRoot(world.parts, { ...options, firstRevision: (await newestNumber()) + 1 }),
    version: 2,
  };
  const signed = await signRoot(content, previous, [k1, k2]);
  const deps = publisher(k1, k2);
  await commitRoot(deps, signed, {
    trust: deps.trust.signingWith([k1, k2], world.memory),
    reason: 'root 2',
  });
}

describe('an attacker with the bucket and the key of an operator', () => {
  it('adds no release to stable, and alters none', async () => {
    await publishBeta('2.0.0-beta.1');
    const beta = offerIn(await present(), 0, 'beta');
    for (const edit of [
      (offers: OfferJson[]) => offers.push(beta),
      (offers: OfferJson[]) =>
        Object.assign(must(offers[0]), { requires: null, mandatory_for: '*' }),
      (offers: OfferJson[]) =>
        void offers.map((offer) => Object.assign(offer, { manifest: beta.manifest })),
    ]) {
      await forge((signed) => edit(stableIn(signed).offers), { signer: ci });
      const cold = await start();
      expect(['1.0.0', '1.1.0', 'no_release']).toContain(await offered(cold));
      expect(problemsOf(cold)).toMatch(/is not offered on stable: too few keys/);
      await world.memory.delete(revisionKey('desktop', await newestNumber()));
    }
  });

  it.each([
    ['inherits', (stable: ChannelJson) => Object.assign(stable, { inherits: 'beta' })],
    [
      'allows downgrades',
      (stable: ChannelJson) => Object.assign(stable, { allow_downgrade: true }),
    ],
  ])('%s nothing on stable', async (_name, edit) => {
    const warm = await start();
    await forge((signed) => edit(stableIn(signed)), { signer: ci });
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
    expect(problemsOf(warm)).toContain('gives stable other settings than its keys signed');
    // The next change gives stable its settings back, so that a yank is possible.
    await yank();
    const { inherits, allow_downgrade: allows } = stableIn(await present());
    expect({ inherits, allows }).toEqual({ inherits: null, allows: undefined });
    await look(warm);
    expect(await offered(warm)).toBe('1.0.0');
  });

  it('chooses among signed releases, also a yanked one', async () => {
    const warm = await start();
    await forge((signed) => Object.assign(offerIn(signed, 1), { status: 'yanked' }), {
      signer: ci,
    });
    await look(warm);
    expect(await offered(warm)).toBe('1.0.0');
  });

  it('replaces a draft before people sign it, and no signature counts for another draft', async () => {
    await publishStable('1.2.0', k1);
    const draft = must(stableIn(await present()).drafts?.[0]);
    const { release } = await readManifest(publisher(), 'desktop', '1.2.0', draft.manifest);
    await forge(
      (signed) => {
        stableIn(signed).drafts = [
          {
            ...draft,
            ...offerStatement(release),
            requires: '>=0.1.0',
          },
        ];
      },
      { signer: ci },
    );
    await expect(signDraft('1.2.0', k2)).rejects.toThrow('states other facts');
  });

  it('promotes to stable only as a draft', async () => {
    await publishBeta('2.0.0-beta.1');
    const request = {
      application: 'desktop',
      version: '2.0.0-beta.1',
      to: 'stable',
      create: false,
      allowPrerelease: true,
    };
    const promoted = await promoteRelease(publisher(ci), request);
    expect(promoted.status).toBe('draft');
    expect(await offeredCold()).toBe('1.1.0');
    expect(await signDraft('2.0.0-beta.1', k1)).toBe(false);
    expect(await signDraft('2.0.0-beta.1', k3)).toBe(true);
    expect(await offeredCold()).toBe('2.0.0-beta.1');
  });
});

function offerStatement(release: Parameters<typeof offerJsonOf>[0]) {
  const { version, artifacts } = offerJsonOf(release, { number: 1, digest: '0'.repeat(64) });
  return { version, artifacts };
}

describe('an attacker with the key of one person of three', () => {
  it('offers nothing on stable', async () => {
    await publishStable('1.2.0', k1);
    expect(await signDraft('1.2.0', k1)).toBe(false);
    const waiting = await describeWaiting(publisher(), await present());
    expect(waiting.get('1.2.0 stable')).toMatch(
      /^waits for 1 of these signatures: \w{12}, \w{12}\./,
    );
    const artifacts = [await artifactOf('1.3.0')];
    const result = await publish(
      { ...world.parts, trust: publisher(k1).trust },
      { version: '1.3.0', artifacts },
    );
    expect(result.status).toBe('draft');
    expect(await offeredCold()).toBe('1.1.0');
  });

  it('changes no key', async () => {
    const content = contentOfRoot(world.parts, {
      people: keysOf(1, k1),
      operators: [k1],
      firstRevision: 9,
    });
    const previous = contentOfRoot(world.parts, { people: keysOf(2, k1, k2, k3) });
    await expect(signRoot({ ...content, version: 2 }, previous, [k1])).rejects.toThrow(
      'needs signatures by 2 of',
    );
    // A root that only this key signed is not trusted, and stops nothing.
    const { rootBytes } = await signRoot({ ...content, version: 2 }, undefined, [k1]);
    await world.memory.create(rootKey('desktop', 2), rootBytes);
    const catalog = await start();
    expect(await offered(catalog)).toBe('1.1.0');
    expect(problemsOf(catalog)).toContain('is not signed by enough keys of root 1');
  });
});

describe('operators', () => {
  it('pause and yank while every key of a person is out of reach', async () => {
    await yank();
    expect(await offeredCold()).toBe('1.0.0');
  });

  it('sign nothing more once their key is removed', async () => {
    await removeCi();
    expect(await offeredCold()).toBe('1.1.0');
    const yanked = yank();
    await expect(yanked).rejects.toThrow('is no operator');
    const warm = await start();
    await forge((signed) => Object.assign(offerIn(signed, 1), { status: 'yanked' }), {
      signer: ci,
    });
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
  });

  it('sign each number that they try once: a lost race signs again, a retry sends the same bytes', async () => {
    const signed: number[] = [];
    let number = await newestNumber();
    const counting = {
      ...ci,
      sign: (bytes: Uint8Array) => {
        signed.push(number + 1);
        return ci.sign(bytes);
      },
    };
    let attempts = 0;
    await changeCatalog(
      { ...publisher(counting), trust: trusting(world.parts, [root], counting) },
      'desktop',
      async (channels) => {
        attempts++;
        if (attempts === 1) {
          await publishBeta('2.0.0-beta.1');
          number++;
        }
        return {
          plan: undefined,
          edit: {
            change: { kind: 'pause', version: '1.0.0', channels: [], reason: null },
            channels,
          },
        };
      },
    );
    // One for each of two numbers, and two for the timestamp and the snapshot.
    expect(attempts).toBe(2);
    expect(signed.length).toBe(4);
  });
});

async function listFiles(directory: string): Promise<readonly string[]> {
  const { readdir } = await import('node:fs/promises');
  return (await readdir(directory, { recursive: true })).map((file) => `/${file}`);
}
