import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  artifactKey,
  artifactObject,
  manifestKey,
  revisionKey,
} from '../../src/catalog/documents/keys.ts';
import { manifestOf } from '../../src/catalog/documents/manifest-document.ts';
import { type Channels, offerJsonOf } from '../../src/catalog/documents/revision-document.ts';
import { REVISION_BYTES_MAX, withdrawnBytes } from '../../src/catalog/documents/revision-size.ts';
import { announceChange, findLastHint } from '../../src/catalog/reading/hints.ts';
import type { Revision } from '../../src/catalog/reading/sequences.ts';
import { registerApplication } from '../../src/catalog/writing/change.ts';
import { loadConfig } from '../../src/config.ts';
import { systemClock, systemRandomness } from '../../src/core/system.ts';
import type { Artifact, Release } from '../../src/domain/release.ts';
import { pathOf } from '../../src/store/filesystem/names.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { openStore } from '../../src/store/open/stores.ts';
import { renderEnvelope } from '../../src/store/sequence/envelope.ts';
import { seal } from '../../src/store/sequence/sealed.ts';
import type { Environment } from './child-process.ts';

/** Fills a store with documents as after years of publishing. */

/** A store, and a way to write many objects to it. */
export interface Target {
  readonly store: ObjectStore;
  write(key: string, bytes: Uint8Array): Promise<unknown>;
}

const AT = '2026-11-01T12:00:00.000Z';
const HEADER = { schema_version: 1 as const, at: AT, by: 'bench' };
/** The number of offers for which the last revision still has space, for later publications. */
const OFFERS_SPARE = 100;
/** A typical text of about 500 characters. */
export const NOTES = `## What is new\n\n${'- Opens large projects twice as fast, and reports a file that it cannot read.\n'.repeat(6)}`;

const FILES = [
  { platform: 'windows', arch: 'x64', format: 'nsis', filename: 'Acme-Studio-Setup.exe' },
  { platform: 'macos', arch: 'universal', format: 'zip', filename: 'Acme-Studio-mac.zip' },
  { platform: 'linux', arch: 'x64', format: 'appimage', filename: 'Acme-Studio.AppImage' },
] as const;

/** Packages of Squirrel and Velopack. Their clients compare SHA-1. */
export const PACKAGES = [
  { platform: 'windows', arch: 'x64', format: 'squirrel', filename: 'Acme-{version}-full.nupkg' },
  {
    platform: 'linux',
    arch: 'x64',
    format: 'velopack',
    filename: 'Acme-{version}-linux-full.nupkg',
  },
] as const;

type File = (typeof FILES)[number] | (typeof PACKAGES)[number];

/** When the file name has no version, all releases share one object. A read takes as long as with separate objects. */
function artifactOf(file: File, version: string): Artifact {
  const filename = file.filename.replace('{version}', version);
  const hash = (name: string) => createHash(name).update(filename).digest('hex');
  const object = artifactObject(hash('sha256'), filename);
  const hashes = { sha1: hash('sha1'), sha256: hash('sha256'), sha512: hash('sha512') };
  const rest = { minimumOsVersion: null, signatures: [], companions: [] };
  return { ...file, filename, ...hashes, ...rest, size: filename.length, object };
}

/** The version of the release with this index, counted from 0. */
export function versionAt(index: number): string {
  return `${1 + Math.floor(index / 100)}.${Math.floor(index / 10) % 10}.${index % 10}`;
}

/** @param env the settings of a service */
export async function openTarget(env: Environment): Promise<Target> {
  const config = loadConfig(env);
  const store = await openStore({ config, clock: systemClock, randomness: systemRandomness });
  if (config.store.kind === 's3') return { store, write: (key, bytes) => store.create(key, bytes) };
  return {
    store,
    // Writes the files directly: the store would wait for the disk after each of hundreds of thousands of files.
    write: async (key, bytes) => {
      const file = pathOf(path.join(config.dataDirectory, 'objects'), key);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, bytes);
    },
  };
}

/**
 * Writes the releases of an application, and one revision for each release. The last revision has the maximum number of
 * offers, in equal parts for all channels. The newest release is in `stable`, and the releases that do not fit are
 * retired.
 *
 * @returns a function that prepares the next revision, in which the first offer of `team-0` is paused or resumed. That
 *   function returns a second function, which commits the revision, tells running services, and resolves to the number
 *   of the revision
 */
export async function fillApplication(
  { store, write }: Target,
  application: string,
  releases: number,
  channelCount = 2,
  files: readonly File[] = FILES,
): Promise<() => () => Promise<number>> {
  const written = new Set<string>();
  const publish = async (version: string) => {
    const release = releaseOf(application, version, files);
    for (const { object, filename } of release.artifacts) {
      if (written.has(object)) continue;
      written.add(object);
      await write(artifactKey(application, object), Buffer.from(filename));
    }
    const header = {
      ...HEADER,
      skipped: [],
      number: 1,
      catalogRevision: 0,
      changeId: systemRandomness.id(),
    };
    const { signed, digest } = seal(manifestOf(release, header));
    await write(manifestKey(application, version, 1), renderEnvelope(signed));
    return offerJsonOf(release, { number: 1, digest });
  };
  const each = Math.floor(Math.min(releases, offersMax(releases)) / channelCount);
  const versions = Array.from({ length: releases }, (_, index) => versionAt(index));
  const retired = versions.slice(0, releases - each * channelCount);
  for (const version of retired) await publish(version);
  const channels: Record<string, Channels[string]> = {};
  for (let index = 0; index < channelCount; index++) {
    const isStable = index === channelCount - 1;
    const start = retired.length + index * each;
    const offers = [];
    for (const version of versions.slice(start, start + each)) offers.push(await publish(version));
    const name = isStable ? 'stable' : `team-${index}`;
    channels[name] = { inherits: null, offers, retired: isStable ? retired : [] };
  }
  let last: Revision | undefined;
  for (let count = 1; count <= releases; count++) {
    last = nextRevision(application, last, count === releases ? channels : {});
    await write(revisionKey(application, count), renderEnvelope(last.signed));
  }
  const deps = { store, clock: systemClock, randomness: systemRandomness, actor: 'bench' };
  await registerApplication(deps, application);
  const team = channels['team-0'];
  const [first, ...others] = team?.offers ?? [];
  if (team === undefined || first === undefined) throw new Error('Too few releases.');
  let status = first.status;
  return () => {
    // A copy: the digest of a revision is computed when it is asked for.
    status = status === 'active' ? 'paused' : 'active';
    const offers = [{ ...first, status }, ...others];
    const changed = { ...channels, 'team-0': { ...team, offers } };
    last = nextRevision(application, last, changed);
    const key = revisionKey(application, last.signed.revision);
    const { signed } = last;
    const bytes = renderEnvelope(signed);
    return async () => {
      await store.create(key, bytes);
      await announceChange(deps, application, await findLastHint(store, 0));
      return signed.revision;
    };
  };
}

/** The maximum number of offers in a revision with this number of retired versions. */
export function offersMax(retired: number): number {
  const digest = `sha256:${'0'.repeat(64)}`;
  const offer = offerJsonOf(releaseOf('desktop', '1000.0.0'), { number: 1, digest });
  const sizeWith = (offers: Channels[string]['offers']): number => {
    const versions = Array.from({ length: retired }, (_, index) => versionAt(index));
    return withdrawnBytes({ stable: { inherits: null, offers, retired: versions } });
  };
  const none = sizeWith([]);
  return Math.floor((REVISION_BYTES_MAX - none) / (sizeWith([offer]) - none)) - OFFERS_SPARE;
}

function releaseOf(application: string, version: string, files: readonly File[] = FILES): Release {
  const rest = {
    requires: null,
    mandatoryFor: null,
    name: null,
    carried: [],
    notesRemoved: [],
    endsNative: [],
  };
  const provenance = { commit: '0123456789abcdef0123456789abcdef01234567', buildUrl: null };
  const described = { releasedAt: AT, notes: { und: NOTES }, provenance };
  const artifacts = files.map((file) => artifactOf(file, version));
  return { application, version, artifacts, ...described, ...rest };
}

function nextRevision(
  application: string,
  previous: Revision | undefined,
  channels: Channels,
): Revision {
  const revision = (previous?.signed.revision ?? 0) + 1;
  return seal({
    ...HEADER,
    ...{ skipped: [], type: 'catalog_revision' as const, application, revision },
    previous: previous === undefined ? null : { revision: revision - 1, digest: previous.digest },
    change_id: systemRandomness.id(),
    change: {
      kind: 'pause' as const,
      version: '1.0.0',
      channels: ['team-0'],
      targets: [],
      summary: null,
      reason: null,
    },
    channels: { ...channels },
  });
}
