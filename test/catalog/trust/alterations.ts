import type { RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import { offerJsonOf } from '../../../src/catalog/documents/revision-document.ts';
import { createCatalog } from '../../../src/catalog/live/catalog.ts';
import { statementDigest } from '../../../src/catalog/trust/channel-role.ts';
import { signRevision } from '../../../src/catalog/trust/revision-signature.ts';
import type { TrustRoot } from '../../../src/catalog/trust/root.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import { isAppError } from '../../../src/core/errors.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { digestOf } from '../../../src/store/sequence/envelope.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { initTrust, keysOf, makeSigner, trusting } from '../../support/trust.ts';
import { createManualClock } from '../live/live-catalog.ts';

/**
 * Random alterations of a signed store by an attacker, and what a service then offers. Two applications have the same
 * keys and the same channels, so that their documents fit each other as well as possible.
 */

const APPLICATIONS = ['desktop', 'tool'] as const;
const [k1, k2, k3, ci] = ['k1', 'k2', 'k3', 'ci'].map((name) => makeSigner(name)) as [
  Signer,
  Signer,
  Signer,
  Signer,
];
const stranger = makeSigner('stranger');

type Objects = Map<string, Uint8Array>;

interface SignedStore {
  readonly objects: Objects;
  readonly roots: readonly TrustRoot[];
  /** The digests of the true revisions, by application. */
  readonly revisions: ReadonlyMap<string, ReadonlySet<string>>;
  /** The statements that the keys of a channel signed: `APPLICATION CHANNEL DIGEST`. */
  readonly statements: ReadonlySet<string>;
  /** The newest revision of each application. */
  readonly newest: ReadonlyMap<string, number>;
}

const clock = createFixedClock();

export async function makeSignedStore(): Promise<SignedStore> {
  const temporary = await makeTemporaryDirectory();
  const store = createMemoryStore({ clock });
  const parts = { store, clock, randomness: createSeededRandomness(7) };
  const roots: TrustRoot[] = [];
  for (const application of APPLICATIONS) {
    const options = {
      application,
      people: keysOf(2, k1, k2, k3),
      operators: [ci],
      channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, ci) },
    };
    const root = await initTrust(parts, options, k1, k2);
    roots.push(root);
    const trust = trusting(parts, [root], ci, k1, k2);
    for (const [version, channel] of [
      ['1.0.0', 'stable'],
      ['1.1.0', 'stable'],
      ['2.0.0-beta.1', 'beta'],
      ['1.2.0', 'stable'],
    ] as const) {
      const content = `${application} ${version}`;
      const artifacts = [
        await makeArtifact(temporary.path, { filename: `${version}.exe`, content }),
      ];
      await publish({ ...parts, trust }, { application, channel, version, artifacts });
    }
    const asked = { application, version: '1.1.0', channel: undefined, reason: null };
    await changeStatus({ ...parts, trust, actor: 'test' }, 'yank', asked);
  }
  await temporary.remove();
  const objects: Objects = new Map();
  for await (const { key } of store.list('')) {
    objects.set(key, (await store.get(key))?.body ?? new Uint8Array());
  }
  const revisions = new Map<string, Set<string>>();
  const statements = new Set<string>();
  const newest = new Map<string, number>();
  for (const [key, bytes] of objects) {
    const [, application = ''] = /^apps\/([^/]+)\/catalog\//.exec(key) ?? [];
    if (application === '') continue;
    const { signed, digest } = parse<{ signed: RevisionJson; digest: string }>(bytes);
    revisions.set(application, (revisions.get(application) ?? new Set()).add(digest));
    newest.set(application, Math.max(newest.get(application) ?? 0, signed.revision));
    for (const [channel, { offers }] of Object.entries(signed.channels)) {
      for (const offer of offers) {
        statements.add(`${application} ${channel} ${statementDigest(offer)}`);
      }
    }
  }
  return { objects, roots, revisions, statements, newest };
}

function parse<T>(bytes: Uint8Array | undefined): T {
  return JSON.parse(Buffer.from(bytes ?? []).toString());
}

/** Random numbers that a seed decides (mulberry32). */
function createDice(seed: number) {
  let state = seed;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(fraction() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  return { below, pick };
}
type Dice = ReturnType<typeof createDice>;

/** The keys of objects that decide what is offered. */
const isDecisive = (key: string): boolean => !key.includes('/artifacts/');
const revisionKeys = (objects: Objects, application: string): readonly string[] =>
  [...objects.keys()].filter((key) => key.startsWith(`apps/${application}/catalog/`)).sort();

type Alteration = (objects: Objects, dice: Dice, signer: Signer | undefined) => Promise<void>;

/** Edits a revision as an attacker would, and makes its digest right. */
const forge: Alteration = async (objects, dice, signer) => {
  const application = dice.pick(APPLICATIONS);
  const keys = revisionKeys(objects, application);
  const key = dice.pick(keys.slice(-3));
  const document = parse<{ signed: RevisionJson; digest: string; signatures: unknown[] }>(
    objects.get(key),
  );
  const signed = structuredClone(document.signed);
  const isNext = dice.below(2) === 0;
  if (isNext) {
    signed.previous = { revision: signed.revision, digest: document.digest };
    signed.revision++;
  }
  const { stable, beta } = signed.channels;
  if (stable === undefined || beta === undefined) return;
  const offer = dice.pick([...stable.offers, ...beta.offers]);
  const edits = [
    () => Object.assign(offer, { status: dice.pick(['active', 'yanked', 'paused']) }),
    () => Object.assign(offer, { requires: dice.pick([null, '>=1.0.0', '<9.0.0']) }),
    () => Object.assign(offer, { mandatory_for: '*' }),
    () => Object.assign(offer, { version: '9.9.9' }),
    () => Object.assign(offer, { rollout: undefined, released_at: '2020-01-01T00:00:00.000Z' }),
    () => Object.assign(offer.manifest, { digest: 'a'.repeat(64) }),
    () => Object.assign(offer, { artifacts: [] }),
    () => Object.assign(stable, { inherits: 'beta' }),
    () => Object.assign(stable, { allow_downgrade: true }),
    () => stable.offers.push(...structuredClone(beta.offers)),
    () => Object.assign(signed.channels, { stable: beta, beta: stable }),
    () => Object.assign(signed, { trust: dice.pick([undefined, { root: signed.trust?.root }]) }),
    () => Object.assign(signed, { application: dice.pick(APPLICATIONS) }),
    () => Object.assign(signed, { settings: { display_name: 'Evil' } }),
  ];
  for (let count = dice.below(2); count >= 0; count--) dice.pick(edits)();
  const digest = digestOf(signed);
  const other = parse<{ signatures: unknown[] }>(objects.get(dice.pick(keys)));
  const signatures = dice.pick<() => Promise<unknown[]>>([
    async () => document.signatures,
    async () => other.signatures,
    async () => [],
    async () => [await signRevision(stranger, digest)],
    async () => [{ ...(await signRevision(stranger, digest)), key_id: ci.key.id }],
    async () => (signer === undefined ? [] : [await signRevision(signer, digest)]),
    async () => (signer === undefined ? [] : [await signRevision(signer, digest)]),
  ]);
  const number = dice.below(4) === 0 ? signed.revision + 3 : signed.revision;
  const target = `apps/${application}/catalog/${String(number).padStart(10, '0')}.json`;
  objects.set(
    target,
    Buffer.from(JSON.stringify({ signed, digest, signatures: await signatures() })),
  );
};

/** Puts one object in the place of another: an older one, or one of another channel or application. */
const replay: Alteration = async (objects, dice) => {
  const keys = [...objects.keys()].filter(isDecisive);
  const kind = (key: string): string =>
    key
      .replace(/^apps\/[^/]+\//, '')
      .split('/')
      .slice(0, 2)
      .join('/');
  const from = dice.pick(keys);
  const same = keys.filter((key) => kind(key) === kind(from));
  const bytes = objects.get(from);
  if (bytes !== undefined) objects.set(dice.pick(dice.below(3) === 0 ? keys : same), bytes);
};

/** Puts an object of the other application under the same name. */
const swap: Alteration = async (objects, dice) => {
  const application = dice.pick(APPLICATIONS);
  const other = application === 'desktop' ? 'tool' : 'desktop';
  const keys = [...objects.keys()].filter((key) => key.startsWith(`apps/${application}/`));
  const from = dice.pick(keys.filter(isDecisive));
  const bytes = objects.get(from);
  if (bytes !== undefined) objects.set(from.replace(application, other), bytes);
};

const damage: Alteration = async (objects, dice) => {
  const key = dice.pick([...objects.keys()].filter(isDecisive));
  const bytes = Buffer.from(objects.get(key) ?? []);
  if (dice.below(2) === 0) objects.set(key, bytes.subarray(0, dice.below(bytes.length + 1)));
  else {
    const at = dice.below(Math.max(1, bytes.length));
    bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8));
    objects.set(key, bytes);
  }
};

const remove: Alteration = async (objects, dice) => {
  objects.delete(dice.pick([...objects.keys()].filter(isDecisive)));
};

/** Takes the store back to an earlier state, as well as an attacker can. */
const rollBack: Alteration = async (objects, dice) => {
  const application = dice.pick(APPLICATIONS);
  const keys = revisionKeys(objects, application);
  const kept = 1 + dice.below(keys.length);
  for (const key of keys.slice(kept)) objects.delete(key);
  const times = [...objects.keys()].filter((key) =>
    key.includes(`${application}/trust/timestamp/`),
  );
  for (const key of times.sort().slice(dice.below(2) === 0 ? kept : 0)) objects.delete(key);
  if (dice.below(2) === 0) {
    for (const key of [...objects.keys()]) if (key.startsWith('changes/')) objects.delete(key);
  }
};

/** Stores a root of the attacker, or an application that does not exist. */
const plant: Alteration = async (objects, dice) => {
  const application = dice.pick(APPLICATIONS);
  const root = parse<{ signed: Record<string, unknown>; signatures: unknown[] }>(
    objects.get(`apps/${application}/trust/root/1.json`),
  );
  const signed = { ...root.signed, version: 2, x_slipway_first_revision: dice.below(9) + 1 };
  const forged = { signed, signatures: root.signatures };
  if (dice.below(2) === 0) {
    objects.set(`apps/${application}/trust/root/2.json`, Buffer.from(JSON.stringify(forged)));
    return;
  }
  for (const [key, bytes] of [...objects]) {
    if (!key.startsWith('apps/tool/')) continue;
    objects.set(key.replace('apps/tool/', 'apps/evil/'), bytes);
  }
  const list = parse<{ signed: { applications: { name: string }[] } }>(
    objects.get('applications/2.json'),
  );
  const listed = structuredClone(list.signed);
  listed.applications = listed.applications.map((one, index) =>
    index === 0 ? { ...one, name: 'evil' } : one,
  );
  const document = { signed: listed, digest: digestOf(listed), signatures: [] };
  objects.set('applications/2.json', Buffer.from(JSON.stringify(document)));
};

const ALTERATIONS: readonly Alteration[] = [
  forge,
  forge,
  forge,
  replay,
  swap,
  damage,
  remove,
  rollBack,
  plant,
];

async function fill(store: ObjectStore, objects: Objects): Promise<void> {
  for (const [key, bytes] of objects) {
    await store.delete(key);
    await store.create(key, bytes);
  }
  for await (const { key } of store.list('')) if (!objects.has(key)) await store.delete(key);
}

/** One alteration. It does nothing when an earlier one has damaged the document that it edits. */
async function alter(objects: Objects, dice: Dice, signer: Signer | undefined): Promise<void> {
  try {
    await dice.pick(ALTERATIONS)(objects, dice, signer);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
}

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Alters the store once for each seed, and asks a service without memory and a running service.
 *
 * @param signer the key that the attacker has; undefined: none
 * @returns sentences about broken promises, each with its seed
 */
export async function alterStores(
  base: SignedStore,
  seeds: Iterable<number>,
  signer?: 'operator',
): Promise<readonly string[]> {
  const broken: string[] = [];
  let answered = 0;
  for (const seed of seeds) {
    const dice = createDice(seed);
    const store = createMemoryStore({ clock });
    const isWarm = dice.below(2) === 0;
    if (isWarm) await fill(store, base.objects);
    const catalog = createCatalog({
      store,
      clock: createManualClock(clock.now()),
      randomness: { fraction: () => 0.5, id: () => 'unused' },
      log: SILENT,
      stateDirectory: undefined,
      pollIntervalMs: 2_000,
      staleMaxMs: 3_600_000,
      trust: trusting({ store, clock }, base.roots),
    });
    if (isWarm) await catalog.start();
    const objects: Objects = new Map(base.objects);
    for (let count = dice.below(3); count >= 0; count--) {
      await alter(objects, dice, signer === undefined ? undefined : ci);
    }
    await fill(store, objects);
    if (isWarm) await catalog.refresh().catch(ignoreExpected);
    else await catalog.start();
    for (const name of Object.keys(catalog.health().applications)) {
      if (!base.newest.has(name)) broken.push(`seed ${seed}: serves ${name}`);
    }
    for (const application of APPLICATIONS) {
      try {
        const reader = catalog.application(application);
        const { revision, channels } = reader.snapshot();
        answered++;
        const isTrue = base.revisions.get(application)?.has(revision.digest) === true;
        if (signer === undefined && !isTrue) broken.push(`seed ${seed}: ${application} is forged`);
        if (isWarm && revision.signed.revision < (base.newest.get(application) ?? 0)) {
          broken.push(`seed ${seed}: ${application} went back`);
        }
        const stable = channels.get('stable');
        if (stable?.inherits.length !== 0 && stable !== undefined) {
          broken.push(`seed ${seed}: stable of ${application} inherits`);
        }
        if (stable?.allowsDowngrade === true) broken.push(`seed ${seed}: stable allows downgrades`);
        for (const [channel, view] of channels) {
          for (const offer of view.offers) {
            const release = await reader.release(offer);
            if (release === undefined) continue;
            const digest = statementDigest(offerJsonOf(release, offer.manifest));
            const sources = [channel, ...view.inherits];
            const isSigned = sources.some((each) =>
              base.statements.has(`${application} ${each} ${digest}`),
            );
            if (!isSigned && channel === 'stable') {
              broken.push(
                `seed ${seed}: ${release.version} on ${channel} of ${application} is unsigned`,
              );
            }
          }
        }
      } catch (error) {
        ignoreExpected(error);
      }
    }
    await catalog.stop();
  }
  // A service that never answers would keep every promise.
  if (answered === 0) broken.push('no service answered');
  return broken;
}

function ignoreExpected(error: unknown): void {
  if (!isAppError(error)) throw error;
}
