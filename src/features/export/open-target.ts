import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock, Randomness } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import {
  areNested,
  arePrefixesNested,
  type PlaceName,
  realPathOf,
} from '../../store/open/place-name.ts';
import type { StoreSettings } from '../../store/open/settings.ts';
import { createStaticDirectory } from '../../store/static-target/static-directory.ts';
import type { StaticTarget } from '../../store/static-target/static-target.ts';

/** The bucket or directory to which an export is written. */

interface TargetDeps {
  readonly config: Pick<StoreSettings, 'store' | 's3Access' | 'privateBucket' | 'dataDirectory'>;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/**
 * Opens the target without any I/O on it.
 *
 * @param location the name of the directory in messages
 * @throws AppError `invalid_configuration` for a place in the store itself, because an export replaces and removes
 *   files
 */
export async function openTarget(
  { config, clock, randomness }: TargetDeps,
  target: PlaceName,
  location: string,
): Promise<StaticTarget> {
  if (target.kind === 'directory') {
    await refuseOwnDirectory(config, target.directory, location);
    return createStaticDirectory(target.directory, location);
  }
  refuseOwnBucket(config, target);
  const { createS3StaticTarget } = await import('../../store/s3/static-target.ts');
  return createS3StaticTarget({ ...config.s3Access, ...target, clock, randomness });
}

async function refuseOwnDirectory(
  { dataDirectory }: TargetDeps['config'],
  directory: string,
  location: string,
): Promise<void> {
  const target = await realPathOf(directory);
  // DATA_DIR may contain links: the objects or the secrets may be on another volume.
  const names = await readdir(dataDirectory).catch(() => []);
  const places = ['', ...names].map((name) => realPathOf(path.join(dataDirectory, name)));
  if (!(await Promise.all(places)).some((place) => areNested(target, place))) return;
  throw refuse(
    `${location} contains DATA_DIR (${dataDirectory}), or is inside it. A static server would serve the store and its secrets. Name another directory.`,
  );
}

function refuseOwnBucket(
  { store, privateBucket }: TargetDeps['config'],
  { bucket, prefix }: Extract<PlaceName, { kind: 's3' }>,
): void {
  if (store.kind !== 's3' || (bucket !== store.bucket && bucket !== privateBucket)) return;
  if (!arePrefixesNested(prefix, store.prefix)) return;
  const place = store.prefix === '' ? bucket : `${bucket}/${store.prefix}`;
  throw refuse(
    `s3://${bucket}/${prefix} overlaps with the store in ${place}: the export would mix with stored objects, and a public bucket would show them. Name another bucket, or a prefix beside S3_PREFIX.`,
  );
}

function refuse(sentence: string): AppError {
  return new AppError('invalid_configuration', sentence);
}
