import { createHash } from 'node:crypto';
import path from 'node:path';
import pLimit from 'p-limit';
import { type Channels, registerApplication } from '../../src/catalog/change.ts';
import { artifactKey, artifactObject } from '../../src/catalog/keys.ts';
import { manifestOf } from '../../src/catalog/manifest-document.ts';
import { offerJsonOf } from '../../src/catalog/revision-document.ts';
import { manifestSequence, type Revision, revisionSequence } from '../../src/catalog/sequences.ts';
import type { Artifact, Release } from '../../src/domain/release.ts';
import { openFilesystemStore } from '../../src/object-store/filesystem.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { seal } from '../../src/sequence/sealed.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';

/** Fills a store with the documents that a year of publishing would leave. */

export interface ContentPlan {
  readonly application: string;
  readonly stableOffers: number;
  /** Pre-releases of the version after the newest stable one. */
  readonly betaOffers: number;
  /** How many releases were published, and later retired from the channel. */
  readonly retired: number;
  /** True: one revision per change, as in a real store. False: only the last revision. */
  readonly history: boolean;
}

const WRITES_AT_ONCE = 32;
const AT = '2026-11-01T12:00:00.000Z';
const HEADER = { schema_version: 1 as const, at: AT, by: 'bench', skipped: [] };

/** A typical text of about 500 characters. */
const NOTES = `## What is new\n\n${'- Opens large projects twice as fast, and reports a file that it cannot read.\n'.repeat(6)}`;

/** The version of the release with this index, counted from 0. */
export function versionAt(index: number): string {
  return `${1 + Math.floor(index / 100)}.${Math.floor(index / 10) % 10}.${index % 10}`;
}

/** Fills the directory store of a service with the DATA_DIR `dataDirectory`. */
export async function fillDirectory(dataDirectory: string, plan: ContentPlan): Promise<void> {
  const signUrl = () => ({ url: '', expiresAt: new Date(0) });
  const directory = path.join(dataDirectory, 'objects');
  await fillStore(await openFilesystemStore({ directory, signUrl }), plan);
}

export async function fillStore(store: ObjectStore, plan: ContentPlan): Promise<void> {
  const { application, stableOffers, betaOffers, retired } = plan;
  const limit = pLimit(WRITES_AT_ONCE);
  const files = FILES.map((file) => ({
    ...file,
    content: Buffer.from(`${application} ${file.filename}`),
  }));
  const artifacts = files.map(artifactOf);
  await Promise.all(
    files.map(({ content }, i) =>
      store.create(artifactKey(application, artifacts[i]?.object ?? ''), content),
    ),
  );
  const publish = (version: string) =>
    limit(async () => {
      const release: Release = { ...RELEASE, application, version, artifacts };
      const changeId = systemRandomness.id();
      const manifest = seal(manifestOf(release, { ...HEADER, number: 1, changeId }));
      const sequence = manifestSequence(application, version);
      await store.create(sequence.key(1), sequence.render(manifest));
      return offerJsonOf(release, { number: 1, digest: manifest.digest });
    });
  const old = indexes(0, retired).map(versionAt);
  const stable = indexes(retired, retired + stableOffers).map(versionAt);
  const beta = indexes(0, betaOffers).map((i) => `${versionAt(retired + stableOffers)}-beta.${i}`);
  await Promise.all(old.map(publish));
  const channels: Channels = {
    stable: { prerelease: false, offers: await Promise.all(stable.map(publish)), retired: old },
    beta: { prerelease: true, offers: await Promise.all(beta.map(publish)), retired: [] },
  };
  const changes = plan.history ? old.length + stable.length + beta.length : 1;
  await writeRevisions(store, application, channels, changes);
  const deps = { store, clock: systemClock, randomness: systemRandomness, actor: 'bench' };
  await registerApplication(deps, application);
}

/** Only the last revision has offers: 10,000 complete revisions would be gigabytes that the service never reads. */
async function writeRevisions(
  store: ObjectStore,
  application: string,
  channels: Channels,
  count: number,
): Promise<void> {
  const limit = pLimit(WRITES_AT_ONCE);
  const sequence = revisionSequence(application);
  const version = channels.stable?.offers.at(-1)?.version ?? '1.0.0';
  const change = { kind: 'publish' as const, version, channels: ['stable'], reason: null };
  const writes: Promise<unknown>[] = [];
  let before: Revision | undefined;
  for (let revision = 1; revision <= count; revision++) {
    const document: Revision = seal({
      ...HEADER,
      skipped: [],
      type: 'catalog_revision' as const,
      application,
      revision,
      previous: before === undefined ? null : { revision: revision - 1, digest: before.digest },
      change_id: systemRandomness.id(),
      change,
      channels: revision === count ? { ...channels } : {},
    });
    writes.push(limit(() => store.create(sequence.key(revision), sequence.render(document))));
    before = document;
  }
  await Promise.all(writes);
}

const FILES = [
  { platform: 'windows', arch: 'x64', format: 'nsis', filename: 'Acme-Studio-Setup.exe' },
  { platform: 'macos', arch: 'universal', format: 'zip', filename: 'Acme-Studio-mac.zip' },
  { platform: 'linux', arch: 'x64', format: 'appimage', filename: 'Acme-Studio.AppImage' },
] as const;

const RELEASE = {
  releasedAt: AT,
  notes: { und: NOTES },
  requires: null,
  mandatoryFor: null,
  endsNative: [],
  provenance: { commit: '0123456789abcdef0123456789abcdef01234567', buildUrl: null },
};

/** All releases of an application share the same files and so the same objects; a read takes as long. */
function artifactOf(file: (typeof FILES)[number] & { readonly content: Buffer }): Artifact {
  const { content, ...identity } = file;
  const sha256 = createHash('sha256').update(content).digest('hex');
  return {
    ...identity,
    size: content.length,
    sha256,
    sha512: createHash('sha512').update(content).digest('hex'),
    minimumOsVersion: null,
    signatures: [],
    companions: [],
    object: artifactObject(sha256, file.filename),
  };
}

function indexes(start: number, end: number): readonly number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}
