import { artifactKey, artifactObject } from '../../src/catalog/documents/keys.ts';
import { type OfferJson, offerJsonOf } from '../../src/catalog/documents/revision-document.ts';
import {
  changeCatalog,
  changeManifest,
  registerApplication,
} from '../../src/catalog/writing/change.ts';
import type { Release } from '../../src/domain/release.ts';
import type { World } from './live/live-catalog.ts';

/** The size of each file, in bytes. */
const SIZE = 3;

/**
 * Publishes releases 1.0.0 to 1.0.(count - 1) in one revision: publishing them one by one is not what is tested.
 *
 * @param fileOf the number of a release's file: releases with the same number share a file
 * @returns the key of each release's only file
 */
export async function bulkPublish(
  world: World,
  count: number,
  application = 'desktop',
  fileOf = (patch: number): number => patch,
): Promise<readonly string[]> {
  const deps = { ...world.parts, actor: 'test' };
  const offers: OfferJson[] = [];
  const keys: string[] = [];
  for (let patch = 0; patch < count; patch++) {
    const release = releaseOf(application, patch, fileOf(patch));
    const key = artifactKey(application, String(release.artifacts[0]?.object));
    await world.memory.create(key, new Uint8Array(SIZE));
    const manifest = await changeManifest(
      deps,
      application,
      release.version,
      async () => ({ release, kept: undefined }),
      {
        catalogRevision: 0,
      },
    );
    offers.push(offerJsonOf(release, manifest));
    keys.push(key);
  }
  await registerApplication(deps, application);
  await changeCatalog(deps, application, () => ({
    plan: undefined,
    edit: {
      change: {
        kind: 'publish',
        version: '1.0.0',
        channels: ['stable'],
        reason: null,
      },
      channels: { stable: { inherits: null, offers, retired: [] } },
    },
  }));
  return keys;
}

function releaseOf(application: string, patch: number, file: number): Release {
  const sha256 = String(file).padStart(64, '0');
  const filename = 'App.exe';
  return {
    application,
    version: `1.0.${patch}`,
    releasedAt: '2026-11-21T09:00:00.000Z',
    notes: {},
    requires: null,
    mandatoryFor: null,
    name: null,
    carried: [],
    notesRemoved: [],
    endsNative: [],
    provenance: { commit: null, buildUrl: null },
    artifacts: [
      {
        platform: 'windows',
        arch: 'x64',
        format: 'nsis',
        filename,
        size: SIZE,
        sha256,
        sha512: '1'.repeat(128),
        minimumOsVersion: null,
        signatures: [],
        companions: [],
        object: artifactObject(sha256, filename),
      },
    ],
  };
}
