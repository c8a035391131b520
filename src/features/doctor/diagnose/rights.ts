import {
  applicationsKey,
  artifactKey,
  artifactObject,
  hintKey,
  manifestKey,
  revisionKey,
} from '../../../catalog/documents/keys.ts';
import type { Finding } from '../../../core/check.ts';
import { isAppError } from '../../../core/errors.ts';
import type { KeyRoot } from '../../../core/key-facts.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { ok, skipped, warning } from './finding.ts';
import { sampleRelease } from './sample-release.ts';
import { withObject } from './with-probe.ts';

/**
 * Finds out which programs can work with these credentials. The checks try each right, and delete the objects that they
 * created.
 */

export interface RightsDeps extends AppendDeps {
  readonly privateStore: ObjectStore;
  /**
   * The prefixes below which the service writes. The checks try each prefix, because a bucket policy may make a single
   * prefix public.
   */
  readonly privateRoots: readonly KeyRoot[];
}

/** A check that tries a right reads no larger file. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const POLICIES = "docs/operations/s3-policies.md in Slipway's repository has the policy";

/**
 * Writes existing objects again. A store that allows the write answers that the object exists. A store that does not
 * allow the write refuses it. A store that ignores the condition loses nothing, because the bytes are the same.
 */
export async function rightToPublish(deps: RightsDeps): Promise<Finding> {
  const { store } = deps;
  const release = await sampleRelease(deps);
  if (release === undefined) {
    return skipped('This check writes an object of a release again, and there is no release yet.');
  }
  const { application, version } = release;
  const keys = [
    ...[applicationsKey(1), hintKey(1), revisionKey(application, 1)],
    manifestKey(application, version, 1),
  ];
  const file = release.artifacts.find(({ size }) => size <= FILE_BYTES_MAX);
  if (file !== undefined) keys.push(artifactKey(application, file.object));
  const refusals = await refusalsOf(keys, async (key) => {
    const found = await store.get(key);
    if (found !== undefined) await store.create(key, found.body);
  });
  if (refusals.length === 0) {
    return ok(
      file === undefined
        ? 'These credentials can publish. The right to write apps/*/artifacts/* was not tried, because the files of the newest release are large.'
        : 'These credentials can publish.',
    );
  }
  return warning(
    `These credentials cannot publish. ${refusals.join(' ')}`,
    `This is right for the service. A publisher needs more rights: ${POLICIES}.`,
  );
}

/** Creates an object below each prefix where the service stores documents, and deletes the object. */
export async function rightToServe(deps: RightsDeps): Promise<Finding> {
  const { privateStore, privateRoots, randomness } = deps;
  const roots = privateRoots.map(({ prefix }) => prefix);
  const refusals = await refusalsOf(roots, (root) =>
    withObject(privateStore, `${root}probe-${randomness.id()}`, async () => {}),
  );
  if (refusals.length === 0) {
    return ok('The service can store accounts, sessions, messages and counts.');
  }
  return warning(
    `With these credentials, the service answers updates, but cannot store everything. ${refusals.join(' ')}`,
    `This is right for a publisher. The service needs more rights: ${POLICIES}.`,
  );
}

/** Deletes an object that does not exist, and lists interrupted uploads. */
export async function rightToCleanUp(deps: RightsDeps): Promise<Finding> {
  const { store, randomness } = deps;
  if ((await store.keepsVersions()) !== false) {
    return skipped(
      'A store that keeps versions would keep a mark of the delete with which this check tries the right.',
    );
  }
  const missing = artifactKey('probe', artifactObject('0'.repeat(64), randomness.id()));
  const refusals = await refusalsOf([missing], async (key) => {
    await store.delete(key);
    await store.removeAbandonedUploads(new Date(0));
  });
  if (refusals.length === 0) return ok('These credentials can run "slipway gc".');
  return skipped(
    `These credentials cannot run "slipway gc", which needs more rights than publishing. ${refusals.join(' ')}`,
  );
}

/** The refusals of the store, as sentences. Rejects for any other failure. */
async function refusalsOf(
  places: readonly string[],
  attempt: (place: string) => Promise<void>,
): Promise<readonly string[]> {
  const refusals = await Promise.all(
    places.map(async (place) => {
      try {
        await attempt(place);
        return undefined;
      } catch (error) {
        if (!isAppError(error) || error.code !== 'store_denied') throw error;
        return error.message;
      }
    }),
  );
  return [...new Set(refusals.filter((refusal) => refusal !== undefined))];
}
