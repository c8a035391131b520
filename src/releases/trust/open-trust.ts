import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TrustCache } from '../../catalog/trust/application-trust.ts';
import type { Signer } from '../../catalog/trust/signer.ts';
import { createRootlessTrust, type Trust } from '../../catalog/trust/trust.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { AskPassphrase } from './open-signer.ts';
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
  const own = settings.key === undefined ? [] : [settings.key.reveal()];
  const given = deps.keys === undefined || deps.keys.length === 0 ? own : deps.keys;
  let opened: Promise<readonly Signer[]> | undefined;
  const signers = (): Promise<readonly Signer[]> => {
    opened ??= openSigners(given, ask);
    return opened;
  };
  const { freshMs } = settings;
  const unsigned = new Set(settings.unsigned);
  if (settings.root === undefined)
    return createRootlessTrust({ store, unsigned, signers, freshMs });
  // Loaded only when it is used: loading the library of TUF takes longer than the rest of many commands.
  const { readRoots } = await import('./read-roots.ts');
  const { createTrust } = await import('../../catalog/trust/create-trust.ts');
  const roots = await readRoots(settings.root);
  return createTrust({ store, clock, roots, unsigned, signers, freshMs, cacheOf, isRehearsal });
}

/** @throws AppError `invalid_configuration`, `key_required` */
async function openSigners(
  keys: readonly string[],
  ask: AskPassphrase,
): Promise<readonly Signer[]> {
  const { openSigner } = await import('./open-signer.ts');
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
