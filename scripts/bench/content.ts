import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pLimit from 'p-limit';
import { openStore } from '../../src/app/stores.ts';
import { type Channels, registerApplication } from '../../src/catalog/change.ts';
import { announceChange, findLastHint } from '../../src/catalog/hints.ts';
import { artifactKey, artifactObject } from '../../src/catalog/keys.ts';
import { manifestOf } from '../../src/catalog/manifest-document.ts';
import {
  type OfferJson,
  offerJsonOf,
  REVISION_BYTES_MAX,
  withdrawnBytes,
} from '../../src/catalog/revision-document.ts';
import { manifestSequence, type Revision, revisionSequence } from '../../src/catalog/sequences.ts';
import { loadConfig } from '../../src/config.ts';
import type { Artifact, Release } from '../../src/domain/release.ts';
import { openFilesystemStore } from '../../src/object-store/filesystem.ts';
import { pathOf } from '../../src/object-store/filesystem-names.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { seal } from '../../src/sequence/sealed.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import type { Environment } from './server.ts';

/** Fills a store with the documents that years of publishing leave. */

export interface ContentPlan {
  readonly application: string;
  /** How many offers each channel has. The channel `beta` has pre-releases. */
  readonly channels: Readonly<Record<string, number>>;
  /** How many releases were published before those, and later retired from `stable`. */
  readonly retired: number;
}

/** An application in a store. */
export interface FilledApplication {
  /**
   * Prepares the next revision, in which a release of `beta` is paused or resumed.
   *
   * @returns commits it, and tells running services
   */
  prepareChange(): () => Promise<void>;
}

/** A store, and how to write many objects to it. */
export interface Target {
  readonly store: ObjectStore;
  write(key: string, bytes: Uint8Array): Promise<unknown>;
}

const WRITES_AT_ONCE = 32;
const AT = '2026-11-01T12:00:00.000Z';
const HEADER = { schema_version: 1 as const, at: AT, by: 'bench', skipped: [] };

/** A typical text of about 500 characters. */
export const NOTES = `## What is new\n\n${'- Opens large projects twice as fast, and reports a file that it cannot read.\n'.repeat(6)}`;

/** The version of the release with this index, counted from 0. */
export function versionAt(index: number): string {
  return `${1 + Math.floor(index / 100)}.${Math.floor(index / 10) % 10}.${index % 10}`;
}

/** The directory store of a service with the DATA_DIR `dataDirectory`. */
export async function openDirectoryTarget(dataDirectory: string): Promise<Target> {
  const root = path.join(dataDirectory, 'objects');
  const signUrl = () => ({ url: '', expiresAt: new Date(0) });
  const store = await openFilesystemStore({ directory: root, signUrl });
  return {
    store,
    // Not through the store: it waits for the disk after each of hundreds of thousands of files.
    write: async (key, bytes) => {
      const file = pathOf(root, key);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    },
  };
}

/** @param env the settings of a service on S3 */
export async function openS3Target(env: Environment): Promise<Target> {
  const deps = { config: loadConfig(env), clock: systemClock, randomness: systemRandomness };
  const store = await openStore(deps);
  return { store, write: (key, bytes) => store.create(key, bytes) };
}

/** Writes the releases of an application, and one revision for each of them. Only the last revision has offers. */
export async function fillApplication(
  target: Target,
  plan: ContentPlan,
): Promise<FilledApplication> {
  const { application, retired } = plan;
  const artifacts = await writeArtifacts(target, application);
  const limit = pLimit(WRITES_AT_ONCE);
  const publish = (version: string): Promise<OfferJson> =>
    limit(async () => {
      const release: Release = { ...RELEASE, application, version, artifacts };
      const changeId = systemRandomness.id();
      const manifest = seal(manifestOf(release, { ...HEADER, number: 1, changeId }));
      const sequence = manifestSequence(application, version);
      await target.write(sequence.key(1), sequence.render(manifest));
      return offerJsonOf(release, { number: 1, digest: manifest.digest });
    });
  const old = range(0, retired).map(versionAt);
  await Promise.all(old.map(publish));
  const channels: Record<string, Channels[string]> = {};
  let next = retired;
  for (const [name, count] of Object.entries(plan.channels)) {
    const prerelease = name === 'beta';
    const versions = range(next, next + count).map((index) =>
      prerelease ? `${versionAt(next + count)}-beta.${index}` : versionAt(index),
    );
    next += count;
    const offers = await Promise.all(versions.map(publish));
    channels[name] = { prerelease, offers, retired: name === 'stable' ? [...old] : [] };
  }
  const last = await writeRevisions(target, application, channels, next);
  await registerApplication(WRITER(target.store), application);
  return { prepareChange: changesAfter(target.store, last) };
}

const WRITER = (store: ObjectStore) => ({
  store,
  clock: systemClock,
  randomness: systemRandomness,
  actor: 'bench',
});

/** How many offers a revision has room for in all, beside `retired` versions and a few further publications. */
export function offersMax(retired: number): number {
  const release = { ...RELEASE, application: 'desktop', version: '1000.0.0', artifacts: ARTIFACTS };
  const offer = offerJsonOf(release, { number: 1, digest: `sha256:${'0'.repeat(64)}` });
  const sizeOf = (count: number): number =>
    withdrawnBytes({
      stable: {
        prerelease: false,
        offers: Array.from({ length: count }, () => offer),
        retired: range(0, retired).map(versionAt),
      },
    });
  const [none, one] = [sizeOf(0), sizeOf(1)];
  return Math.floor((REVISION_BYTES_MAX - none) / (one - none)) - OFFERS_SPARE;
}

const OFFERS_SPARE = 100;

async function writeArtifacts(target: Target, application: string): Promise<readonly Artifact[]> {
  for (const [index, { object }] of ARTIFACTS.entries()) {
    const content = contentOf(FILES[index] ?? FILES[0]);
    await target.store.create(artifactKey(application, object), content);
  }
  return ARTIFACTS;
}

async function writeRevisions(
  target: Target,
  application: string,
  channels: Channels,
  count: number,
): Promise<Revision> {
  const limit = pLimit(WRITES_AT_ONCE);
  const sequence = revisionSequence(application);
  const writes: Promise<unknown>[] = [];
  let last: Revision | undefined;
  for (let revision = 1; revision <= count; revision++) {
    const document = nextRevision(application, last, revision === count ? { ...channels } : {});
    writes.push(limit(() => target.write(sequence.key(revision), sequence.render(document))));
    last = document;
  }
  await Promise.all(writes);
  if (last === undefined) throw new Error(`The plan of ${application} has no release.`);
  return last;
}

function nextRevision(
  application: string,
  previous: Revision | undefined,
  channels: Revision['signed']['channels'],
): Revision {
  const revision = (previous?.signed.revision ?? 0) + 1;
  return seal({
    ...HEADER,
    skipped: [],
    type: 'catalog_revision' as const,
    application,
    revision,
    previous: previous === undefined ? null : { revision: revision - 1, digest: previous.digest },
    change_id: systemRandomness.id(),
    change: { kind: 'pause' as const, version: '1.0.0', channels: ['beta'], reason: null },
    channels,
  });
}

function changesAfter(store: ObjectStore, latest: Revision): FilledApplication['prepareChange'] {
  let current = latest;
  return () => {
    const { application, channels } = current.signed;
    const { beta } = channels;
    const first = beta?.offers[0];
    if (beta === undefined || first === undefined) throw new Error(`${application} has no beta.`);
    const changed = { ...first, status: first.status === 'active' ? 'paused' : 'active' } as const;
    const offers = [changed, ...beta.offers.slice(1)];
    const document = nextRevision(application, current, {
      ...channels,
      beta: { ...beta, offers },
    });
    const sequence = revisionSequence(application);
    const bytes = sequence.render(document);
    return async () => {
      await store.create(sequence.key(document.signed.revision), bytes);
      current = document;
      await announceChange(WRITER(store), application, await findLastHint(store, 0));
    };
  };
}

const FILES = [
  { platform: 'windows', arch: 'x64', format: 'nsis', filename: 'Acme-Studio-Setup.exe' },
  { platform: 'macos', arch: 'universal', format: 'zip', filename: 'Acme-Studio-mac.zip' },
  { platform: 'linux', arch: 'x64', format: 'appimage', filename: 'Acme-Studio.AppImage' },
] as const;
type File = (typeof FILES)[number];

/** All releases have the same files and so the same objects; a read takes as long. */
const ARTIFACTS = FILES.map(artifactOf);

const RELEASE = {
  releasedAt: AT,
  notes: { und: NOTES },
  requires: null,
  mandatoryFor: null,
  endsNative: [],
  provenance: { commit: '0123456789abcdef0123456789abcdef01234567', buildUrl: null },
};

function contentOf(file: File): Buffer {
  return Buffer.from(`The content of ${file.filename}`);
}

function artifactOf(file: File): Artifact {
  const content = contentOf(file);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return {
    ...file,
    size: content.length,
    sha256,
    sha512: createHash('sha512').update(content).digest('hex'),
    minimumOsVersion: null,
    signatures: [],
    companions: [],
    object: artifactObject(sha256, file.filename),
  };
}

function range(start: number, end: number): readonly number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}
