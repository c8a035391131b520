import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Clock, Randomness } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { AppError } from '../../errors.ts';
import { createStaticDirectory } from '../../object-store/static-directory.ts';
import type { StaticTarget } from '../../object-store/static-target.ts';

/** Where an export is written. */

interface TargetDeps {
  readonly config: Pick<Config, 'store' | 's3Access' | 'privateBucket' | 'dataDirectory'>;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

export type TargetName =
  | { readonly kind: 'directory'; readonly directory: string }
  /** `prefix`: without slashes at its ends; empty for none. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

/** Parses `DIR` or `s3://BUCKET[/PREFIX]`. @throws AppError `invalid_configuration` */
export function parseTarget(text: string): TargetName {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) {
    if (text.trim() === '') throw refuse('Name a directory, or s3://BUCKET/PREFIX.');
    return { kind: 'directory', directory: path.resolve(text) };
  }
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9._-]{1,62})(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) {
    const shown = JSON.stringify(text.slice(0, 80));
    throw refuse(`${shown} is not a target. Name a directory, or s3://BUCKET/PREFIX.`);
  }
  return { kind: 's3', bucket, prefix: prefix.replace(/^\/+|\/+$/g, '') };
}

/**
 * Opens the target without any I/O on it.
 *
 * @param location of a directory, for messages
 * @throws AppError `invalid_configuration` for a place of the store itself: an export replaces and removes files
 */
export async function openTarget(
  { config, clock, randomness }: TargetDeps,
  target: TargetName,
  location: string,
): Promise<StaticTarget> {
  if (target.kind === 'directory') {
    await refuseOwnDirectory(config, target.directory, location);
    return createStaticDirectory(target.directory, location);
  }
  refuseOwnBucket(config, target);
  const { createS3StaticTarget } = await import('../../object-store/s3-static-target.ts');
  return createS3StaticTarget({ ...config.s3Access, ...target, clock, randomness });
}

async function refuseOwnDirectory(
  { dataDirectory }: TargetDeps['config'],
  directory: string,
  location: string,
): Promise<void> {
  const [target, data] = [await realPathOf(directory), await realPathOf(dataDirectory)];
  if (!isWithin(target, data) && !isWithin(data, target)) return;
  throw refuse(
    `${location} contains DATA_DIR (${dataDirectory}), or is inside it. A static server would serve the store and its secrets. Name another directory.`,
  );
}

function isWithin(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative));
}

/** Also of a path that does not exist yet, through the symbolic links of its parents. */
async function realPathOf(directory: string): Promise<string> {
  try {
    return await realpath(directory);
  } catch {
    const parent = path.dirname(directory);
    if (parent === directory) return directory;
    return path.join(await realPathOf(parent), path.basename(directory));
  }
}

function refuseOwnBucket(
  { store, privateBucket }: TargetDeps['config'],
  { bucket, prefix }: Extract<TargetName, { kind: 's3' }>,
): void {
  if (store.kind !== 's3' || (bucket !== store.bucket && bucket !== privateBucket)) return;
  const [target, own] = [prefix, store.prefix].map((each) => (each === '' ? '' : `${each}/`));
  if (target === undefined || own === undefined) return;
  if (!target.startsWith(own) && !own.startsWith(target)) return;
  const place = own === '' ? bucket : `${bucket}/${own.slice(0, -1)}`;
  throw refuse(
    `s3://${bucket}/${prefix} overlaps with the store in ${place}: the export would mix with stored objects, and a public bucket would show them. Name another bucket, or a prefix beside S3_PREFIX.`,
  );
}

function refuse(sentence: string): AppError {
  return new AppError('invalid_configuration', sentence);
}
