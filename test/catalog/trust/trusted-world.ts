import { readdir } from 'node:fs/promises';
import { afterAll, expect } from 'vitest';
import { freshnessPrefix, revisionKey } from '../../../src/catalog/documents/keys.ts';
import type {
  ChannelJson,
  OfferJson,
  RevisionJson,
} from '../../../src/catalog/documents/revision-document.ts';
import type { Catalog } from '../../../src/catalog/live/catalog.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import type { FreshRevision } from '../../../src/catalog/trust/freshness.ts';
import { signRevision } from '../../../src/catalog/trust/revision-signature.ts';
import type { TrustRoot } from '../../../src/catalog/trust/root.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import type { Trust } from '../../../src/catalog/trust/trust.ts';
import type { WriterDeps } from '../../../src/catalog/writing/change.ts';
import { AppError } from '../../../src/core/errors.ts';
import { commitRoot, type RootChange, signRoot } from '../../../src/features/trust/change-root.ts';
import { openDraft } from '../../../src/releases/publish/open-draft.ts';
import type { PublishResult } from '../../../src/releases/publish/publish-request.ts';
import {
  readWaiting,
  signWaiting,
  type WaitingRelease,
} from '../../../src/releases/trust/sign-draft.ts';
import { changeStatus, type StatusChanged } from '../../../src/releases/withdraw/change-status.ts';
import type { ObjectStore } from '../../../src/store/object-store.ts';
import { digestOf } from '../../../src/store/sequence/envelope.ts';
import { listKeys, readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import {
  contentOfRoot,
  initTrust,
  keysOf,
  makeSigner,
  type RootOptions,
  trusting,
} from '../../support/trust.ts';
import { createWorld, offered, POLL_MS, useCatalogs, type World } from '../live/live-catalog.ts';

export const [k1, k2, k3] = [makeSigner('k1'), makeSigner('k2', 'p256'), makeSigner('k3')];
export const ci = makeSigner('ci');
export const stranger = makeSigner('stranger');

/** Two of three people sign what stable offers, and the key of CI decides about beta. */
export const DELEGATED: RootOptions = {
  people: keysOf(2, k1, k2, k3),
  operators: [ci, k1],
  channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, ci) },
};

/** Operators alone decide what channels offer. */
export const OPERATORS_DECIDE: RootOptions = { people: keysOf(1, k1), operators: [ci] };

export const DAY_MS = 86_400_000;

export function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('There is no such thing.');
  return value;
}

export const channelOf = (signed: RevisionJson, channel = 'stable'): ChannelJson =>
  must(signed.channels[channel]);

export const offerIn = (signed: RevisionJson, index: number, channel?: string): OfferJson =>
  must(channelOf(signed, channel).offers[index]);

/** Lets a running process look for changes. The log and the health have a failure. */
export const look = (catalog: Catalog): Promise<void> => catalog.refresh().catch(() => undefined);

/** Polls until a running process has saved this revision: writing files takes real time. */
export async function untilSavedRevision(
  { clock }: World,
  stateDirectory: string,
  number: number,
): Promise<void> {
  await expect
    .poll(async () => {
      await clock.advance(POLL_MS);
      return (await readdir(stateDirectory, { recursive: true })).map((file) => `/${file}`);
    })
    .toContainEqual(expect.stringMatching(new RegExp(`/${number}\\.catalog$`)));
}

interface Forgery {
  /** Absent: the revision keeps the signatures of the revision from which it is made. */
  readonly signer?: Signer;
  /** Absent: the number after the newest revision. */
  readonly number?: number;
}

/** A signed catalog in memory: what its publishers, its people and its attackers do. */
export interface TrustedWorld {
  /** Begins again with an empty store. */
  begin(): World;
  /** Makes the first root, and installs it. */
  init(options: RootOptions, ...signers: readonly Signer[]): Promise<void>;
  /** Makes a root that is {@link DELEGATED}, and two releases that two people have signed. */
  initDelegated(): Promise<void>;
  /** Installs another root, as an operator who copies its file to each machine. */
  install(root: TrustRoot): void;
  root(): TrustRoot;
  /** The dependencies of a publisher with these keys. */
  publisher(...signers: readonly Signer[]): WriterDeps & { readonly trust: Trust };
  /** Starts a service. */
  start(stateDirectory?: string, ...signers: readonly Signer[]): Promise<Catalog>;
  /** What a client gets of a process that remembers nothing. */
  offeredCold(): Promise<string>;
  publishTo(
    channel: string,
    version: string,
    ...signers: readonly Signer[]
  ): Promise<PublishResult>;
  /** Publishes to stable without a root of trust, as anybody can who writes a bucket. */
  publishUnsigned(application: string, version: string, at?: World): Promise<PublishResult>;
  /** Stores the files of a release of desktop that nobody signed. */
  plantRelease(version: string): Promise<OfferJson>;
  /** Publishes a draft to stable with the key of CI, and lets people sign it. */
  publishStable(version: string, ...people: readonly Signer[]): Promise<void>;
  /** Reads a draft of stable that waits for signatures. */
  readDraft(version: string): Promise<WaitingRelease>;
  /** Signs a draft of stable. True: it is offered now. */
  signDraft(version: string, ...people: readonly Signer[]): Promise<boolean>;
  /** Yanks a version. Absent: 1.1.0, with the key of CI. */
  yank(version?: string, ...signers: readonly Signer[]): Promise<StatusChanged>;
  /** Yanks 1.1.0 with the key of CI, and dies before it stores the timestamp. */
  yankAndDie(): Promise<StatusChanged>;
  /** Replaces root 1 by root 2. The signers sign both, and the first revision under root 2. */
  changeRoot(
    before: RootOptions,
    after: RootOptions,
    ...signers: readonly Signer[]
  ): Promise<RootChange>;
  present(): Promise<RevisionJson>;
  /** What a timestamp states about the newest revision. */
  presentState(): Promise<FreshRevision>;
  newestNumber(): Promise<number>;
  /** Rewrites a revision as an attacker does: the digest is right, and so is the chain. */
  forge(edit: (signed: RevisionJson) => void, forgery?: Forgery): Promise<void>;
  deleteUnder(prefix: string, kept?: readonly string[]): Promise<void>;
  /** Deletes the revisions after this number, and the hints that name them. */
  deleteAfter(number: number): Promise<void>;
}

/** For the tests of one file. */
export async function useTrustedWorld(): Promise<TrustedWorld> {
  const temporary = await makeTemporaryDirectory();
  afterAll(() => temporary.remove());
  const catalogs = useCatalogs();
  let world = createWorld();
  let installed: TrustRoot | undefined;

  const roots = () => (installed === undefined ? [] : [installed]);
  const publisher: TrustedWorld['publisher'] = (...signers) => ({
    ...world.parts,
    actor: 'test',
    trust: trusting(world.parts, roots(), ...signers),
  });
  const start: TrustedWorld['start'] = (stateDirectory, ...signers) =>
    catalogs.start(world, {
      trust: trusting(world, roots(), ...signers),
      ...(stateDirectory === undefined ? {} : { stateDirectory }),
    });
  const releaseOf = async (version: string) => {
    const file = { filename: `App-${version}.exe`, content: `program ${version}` };
    return { version, artifacts: [await makeArtifact(temporary.path, file)] };
  };
  const publishTo: TrustedWorld['publishTo'] = async (channel, version, ...signers) =>
    publish(publisher(...signers), { ...(await releaseOf(version)), channel });
  const publishUnsigned: TrustedWorld['publishUnsigned'] = async (
    application,
    version,
    at = world,
  ) => publish(at.parts, { ...(await releaseOf(version)), application });
  const readDraft: TrustedWorld['readDraft'] = async (version) => {
    const deps = publisher();
    const trust = must(deps.trust.of('desktop'));
    return must(await readWaiting(deps, trust, { channel: 'stable', version }));
  };
  const signDraft: TrustedWorld['signDraft'] = async (version, ...people) => {
    const waiting = await readDraft(version);
    const deps = publisher(...people);
    const trust = must(deps.trust.of('desktop'));
    const { role } = await signWaiting(deps, trust, waiting, people);
    if (role === undefined) return false;
    await openDraft(
      { ...deps, signedRoles: { stable: role } },
      { application: 'desktop', channel: 'stable', version, allowPrerelease: true },
    );
    return true;
  };
  const publishStable: TrustedWorld['publishStable'] = async (version, ...people) => {
    expect((await publishTo('stable', version, ci)).status).toBe('draft');
    for (const person of people) await signDraft(version, person);
  };
  const yankWith = (deps: WriterDeps, version: string): Promise<StatusChanged> =>
    changeStatus(deps, 'yank', {
      application: 'desktop',
      version,
      channel: undefined,
      reason: 'x',
    });
  const init: TrustedWorld['init'] = async (options, ...signers) => {
    installed = await initTrust(world.parts, options, ...signers);
  };
  const readNewest = async () => must(await readRevision(publisher(), 'desktop'));
  const newestNumber = async () => (await listKeys(world.memory, 'apps/desktop/catalog/')).length;
  const deleteUnder: TrustedWorld['deleteUnder'] = async (prefix, kept = []) => {
    for (const key of await listKeys(world.memory, prefix)) {
      if (!kept.includes(key)) await world.memory.delete(key);
    }
  };

  return {
    begin: () => {
      installed = undefined;
      world = createWorld();
      return world;
    },
    init,
    initDelegated: async () => {
      await init(DELEGATED, k1, k2);
      await publishStable('1.0.0', k1, k2);
      await publishStable('1.1.0', k2, k3);
    },
    install: (root) => {
      installed = root;
    },
    root: () => must(installed),
    publisher,
    start,
    offeredCold: async () => {
      const catalog = await start();
      try {
        return await offered(catalog);
      } finally {
        await catalog.stop();
      }
    },
    publishTo,
    publishUnsigned,
    plantRelease: async (version) => {
      const elsewhere = createWorld();
      await publishUnsigned('desktop', version, elsewhere);
      for (const key of await listKeys(elsewhere.memory, 'apps/desktop/releases/')) {
        await world.memory.create(key, must(await elsewhere.memory.get(key)).body);
      }
      const text = await readText(elsewhere.memory, revisionKey('desktop', 1));
      return offerIn(JSON.parse(String(text)).signed, 0);
    },
    publishStable,
    readDraft,
    signDraft,
    yank: (version = '1.1.0', ...signers) =>
      yankWith(publisher(...(signers.length === 0 ? [ci] : signers)), version),
    yankAndDie: () => {
      const { memory } = world;
      const create: ObjectStore['create'] = async (key, ...given) => {
        if (key.startsWith(freshnessPrefix('desktop'))) {
          throw new AppError('store_unavailable', 'The publisher is dead.');
        }
        return memory.create(key, ...given);
      };
      return yankWith({ ...publisher(ci), store: { ...memory, create } }, '1.1.0');
    },
    changeRoot: async (before, after, ...signers) => {
      const firstRevision = (await newestNumber()) + 1;
      const previous = contentOfRoot(world.parts, before);
      const roles = (await readNewest()).signed.trust?.channels;
      const next = {
        ...contentOfRoot(world.parts, { ...after, firstRevision, roles }),
        version: 2,
      };
      const signed = await signRoot(next, previous, signers);
      // A plan of the test may fail what this process stores.
      const deps = { ...publisher(...signers), store: world.store };
      const trust = deps.trust.signingWith(signers, world.store);
      return commitRoot(deps, signed, { trust, reason: 'root 2' });
    },
    present: async () => (await readNewest()).signed,
    presentState: async () => {
      const { digest, signed } = await readNewest();
      return { revision: signed.revision, digest, trust: must(signed.trust) };
    },
    newestNumber,
    forge: async (edit, { signer, number } = {}) => {
      const last = await newestNumber();
      const target = number ?? last + 1;
      const base = revisionKey('desktop', Math.min(target, last));
      const before = JSON.parse(String(await readText(world.memory, base)));
      const signed = structuredClone(before.signed);
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
    },
    deleteUnder,
    deleteAfter: async (number) => {
      for (let each = await newestNumber(); each > number; each--) {
        await world.memory.delete(revisionKey('desktop', each));
      }
      await deleteUnder('changes/');
    },
  };
}
