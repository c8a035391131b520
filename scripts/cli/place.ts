import path from 'node:path';
import { objectsDirectory } from '../../src/app/stores.ts';
import type { Config } from '../../src/config.ts';
import { AppError } from '../../src/errors.ts';

/** Which store a command works on, in the words of the settings and without credentials. */
export interface Place {
  /** For sentences: `./data`, `s3://releases`, `s3://releases/team at http://127.0.0.1:9000`. */
  readonly text: string;
  /** For JSON: as `text`, with the whole path of a directory. */
  readonly name: string;
}

/** What a command works on: the releases, or what the service writes about accounts and messages. */
export type Subject = 'releases' | 'private data';

export function placeOf({ store, dataDirectory, privateBucket }: Config, subject: Subject): Place {
  if (store.kind === 'filesystem') return { text: shown(dataDirectory), name: dataDirectory };
  const bucket = subject === 'private data' ? (privateBucket ?? store.bucket) : store.bucket;
  const prefix = store.prefix === '' ? '' : `/${store.prefix}`;
  const text = `s3://${bucket}${prefix}${endpointOf(store.endpoint)}`;
  return { text, name: text };
}

/** Below the working directory as a relative path, otherwise as it is. */
function shown(directory: string): string {
  const here = process.cwd();
  const relative = path.relative(here, directory);
  if (here === path.parse(here).root) return directory;
  if (path.isAbsolute(relative) || relative.split(path.sep)[0] === '..') return directory;
  return relative === '' ? '.' : `.${path.sep}${relative}`;
}

/** AWS itself needs no mention; a user name or password in the address must not be printed. */
function endpointOf(endpoint: string | undefined): string {
  if (endpoint === undefined) return '';
  const { protocol, host, hostname, pathname } = new URL(endpoint);
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(hostname)) return '';
  return ` at ${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

/**
 * For a directory without a store: a mistyped path or the wrong working directory. An empty answer would
 * hide that.
 */
export function missingStore(place: Place, config: Config): AppError {
  const above = path.dirname(config.dataDirectory);
  const isInside = path.basename(config.dataDirectory) === 'objects';
  const hint = isInside ? ` Did you mean DATA_DIR=${shown(above)}?` : '';
  return new AppError(
    'invalid_configuration',
    `There is no store in ${place.text}: ${objectsDirectory(config)} does not exist or holds none. Run the command in the directory that has it, or set DATA_DIR, or OBJECT_STORE=s3 and S3_BUCKET. "slipway publish VERSION FILES --create" makes a new store.${hint}`,
  );
}
