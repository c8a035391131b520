import path from 'node:path';
import { AppError } from '../core/errors.ts';
import type { StoreSettings } from '../store/open/settings.ts';
import { objectsDirectory } from '../store/open/stores.ts';

/** The store that a command works on, as the settings name it and without credentials. */
export interface Place {
  /** The store in sentences: `./data`, `s3://releases`, `s3://releases/team at http://127.0.0.1:9000`. */
  readonly text: string;
  /** The store in JSON: the same as `text`, but for a directory the absolute path. */
  readonly name: string;
}

/** The data that a command works on: releases, or accounts and messages. */
export type Subject = 'releases' | 'private data';

export function placeOf(
  { store, dataDirectory, privateBucket }: StoreSettings,
  subject: Subject,
): Place {
  if (store.kind === 'filesystem') return { text: shown(dataDirectory), name: dataDirectory };
  const bucket = subject === 'private data' ? (privateBucket ?? store.bucket) : store.bucket;
  const prefix = store.prefix === '' ? '' : `/${store.prefix}`;
  const text = `s3://${bucket}${prefix}${endpointOf(store.endpoint)}`;
  return { text, name: text };
}

/** A directory as sentences show it: a relative path below the working directory, else the absolute path. */
export function shown(directory: string): string {
  const here = process.cwd();
  const relative = path.relative(here, directory);
  if (here === path.parse(here).root) return directory;
  if (path.isAbsolute(relative) || relative.split(path.sep)[0] === '..') return directory;
  return relative === '' ? '.' : `.${path.sep}${relative}`;
}

/** The endpoint in sentences, empty for AWS. A user name and password in the URL must not be printed. */
function endpointOf(endpoint: string | undefined): string {
  if (endpoint === undefined) return '';
  const { protocol, host, hostname, pathname } = new URL(endpoint);
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(hostname)) return '';
  return ` at ${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

/** The error for a directory without a store. An empty result would hide a mistyped path or a wrong directory. */
export function missingStore(place: Place, config: StoreSettings): AppError {
  const above = path.dirname(config.dataDirectory);
  const isInside = path.basename(config.dataDirectory) === 'objects';
  const hint = isInside ? ` Did you mean DATA_DIR=${shown(above)}?` : '';
  return new AppError(
    'invalid_configuration',
    `There is no store in ${place.text}: ${objectsDirectory(config)} does not exist, or is not a store. Run the command in the directory that has it, or set DATA_DIR, or OBJECT_STORE=s3 and S3_BUCKET. "slipway publish VERSION FILES --create" creates a new store.${hint}`,
  );
}
