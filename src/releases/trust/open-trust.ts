import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TrustCache } from '../../catalog/trust/application-trust.ts';
import { METADATA_BYTES_MAX } from '../../catalog/trust/metadata.ts';
import { parseRoot, type TrustRoot } from '../../catalog/trust/root.ts';
import type { Signer } from '../../catalog/trust/signer.ts';
import { createTrust, type Trust } from '../../catalog/trust/trust.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError, systemCode } from '../../core/errors.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { type AskPassphrase, openSigner } from './open-signer.ts';
import type { TrustSettings } from './settings.ts';

interface OpenTrustDeps {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly settings: TrustSettings['trust'];
  /** The keys of the command, as `--key` gives them; absent: the setting TRUST_KEY. */
  readonly keys?: readonly string[] | undefined;
  readonly ask: AskPassphrase;
  readonly cacheOf?: ((application: string) => TrustCache) | undefined;
  readonly isRehearsal?: boolean;
}

/**
 * Opens the roots and the keys that the settings name.
 *
 * @throws AppError `invalid_configuration`, `key_required`
 */
export async function openTrust(deps: OpenTrustDeps): Promise<Trust> {
  const { store, clock, settings, ask, cacheOf, isRehearsal = false } = deps;
  const roots = settings.root === undefined ? undefined : await readRoots(settings.root);
  const own = settings.key === undefined ? [] : [settings.key.reveal()];
  const given = deps.keys === undefined || deps.keys.length === 0 ? own : deps.keys;
  let opened: Promise<readonly Signer[]> | undefined;
  const signers = (): Promise<readonly Signer[]> => {
    opened ??= openSigners(given, ask);
    return opened;
  };
  const { freshMs } = settings;
  const unsigned = new Set(settings.unsigned);
  return createTrust({ store, clock, roots, unsigned, signers, freshMs, cacheOf, isRehearsal });
}

/** @throws AppError `invalid_configuration`, `key_required` */
async function openSigners(
  keys: readonly string[],
  ask: AskPassphrase,
): Promise<readonly Signer[]> {
  const signers: Signer[] = [];
  // One after the other: two keys may have a passphrase each.
  for (const key of keys) {
    const signer = await openSigner(key, ask);
    if (signers.some((other) => other.key.id === signer.key.id)) {
      throw new AppError('invalid_configuration', `${signer.name} is given twice.`);
    }
    signers.push(signer);
  }
  return signers;
}

/** Reads a root file, or each `.json` file of a directory. @throws AppError `invalid_configuration` */
async function readRoots(place: string): Promise<ReadonlyMap<string, TrustRoot>> {
  const roots = new Map<string, TrustRoot>();
  for (const file of await rootFiles(place)) {
    const root = await readRoot(file);
    if (roots.has(root.application)) {
      throw wrong(`TRUST_ROOT has two root files for ${root.application}. Keep one: ${file}`);
    }
    roots.set(root.application, root);
  }
  if (roots.size === 0) {
    throw wrong(
      `TRUST_ROOT names the directory ${place}, which has no .json file. Copy the root file of each application there; "slipway trust init" writes it.`,
    );
  }
  return roots;
}

async function rootFiles(place: string): Promise<readonly string[]> {
  try {
    if (!(await stat(place)).isDirectory()) return [place];
    const names = (await readdir(place)).filter((name) => name.endsWith('.json')).sort();
    return names.map((name) => path.join(place, name));
  } catch (error) {
    throw unreadable(place, error);
  }
}

async function readRoot(file: string): Promise<TrustRoot> {
  try {
    const bytes = await readPlainFile(file, METADATA_BYTES_MAX);
    if (bytes === undefined) throw wrong(`${file} is too large for a root file.`);
    return parseRoot(bytes, file);
  } catch (error) {
    if (isAppError(error, 'document_corrupt')) throw wrong(error.message, error);
    if (isAppError(error)) throw error;
    throw unreadable(file, error);
  }
}

function unreadable(place: string, error: unknown): AppError {
  const code = systemCode(error);
  if (code === undefined) throw error;
  const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return wrong(`TRUST_ROOT names ${place}, which ${why}.`, error);
}

function wrong(message: string, cause?: unknown): AppError {
  return new AppError('invalid_configuration', message, { cause });
}

/** Keeps metadata in files, in the directory of the saved state. */
export function createTrustCache(directory: string): TrustCache {
  const fileOf = (key: string): string =>
    path.join(directory, key.slice(key.indexOf('/trust/') + 7).replaceAll('/', '_'));
  return {
    read: (key) => readFile(fileOf(key)).catch(() => undefined),
    write: async (key, bytes) => {
      await writeCached(fileOf(key), bytes).catch(() => undefined);
    },
  };
}

/** Writes the file under another name first, so that no process reads half of it. */
async function writeCached(file: string, bytes: Uint8Array): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, bytes);
  await rename(temporary, file);
}
