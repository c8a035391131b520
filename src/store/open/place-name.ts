import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../../core/errors.ts';

/** The name of a directory or a bucket on the command line. */
export type PlaceName =
  | { readonly kind: 'directory'; readonly directory: string }
  /** `prefix`: without slashes at its ends; empty for no prefix. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

/**
 * Parses `DIR` or `s3://BUCKET[/PREFIX]`.
 *
 * @param what says in the error what the place is for
 * @throws AppError `invalid_configuration`
 */
export function parsePlaceName(text: string, what: 'source' | 'target'): PlaceName {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) {
    if (text.trim() === '') throw refuse('Name a directory, or s3://BUCKET/PREFIX.');
    return { kind: 'directory', directory: path.resolve(text) };
  }
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9._-]{1,62})(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) {
    const shown = JSON.stringify(text.slice(0, 80));
    throw refuse(`${shown} is not a ${what}. Name a directory, or s3://BUCKET/PREFIX.`);
  }
  return { kind: 's3', bucket, prefix: prefix.replace(/^\/+|\/+$/g, '') };
}

/**
 * True when two directories are the same, or one is inside the other. @param a a path that {@link realPathOf} has
 * returned
 */
export function areNested(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

/** Like {@link areNested}, for two prefixes of one bucket. */
export function arePrefixesNested(a: string, b: string): boolean {
  const folder = (prefix: string): string => (prefix === '' ? '' : `${prefix}/`);
  return folder(a).startsWith(folder(b)) || folder(b).startsWith(folder(a));
}

function isWithin(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative));
}

/** Resolves the symbolic links in a path. For a path that does not exist yet, resolves the links in its parents. */
export async function realPathOf(directory: string): Promise<string> {
  try {
    return await realpath(directory);
  } catch {
    const parent = path.dirname(directory);
    if (parent === directory) return directory;
    return path.join(await realPathOf(parent), path.basename(directory));
  }
}

function refuse(sentence: string): AppError {
  return new AppError('invalid_configuration', sentence);
}
