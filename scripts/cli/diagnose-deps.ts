import { stat, statfs } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import path from 'node:path';
import { PRIVATE_ROOTS } from '../../src/app/key-roots.ts';
import { objectsDirectory, openSigner, publicAddressOf } from '../../src/app/stores.ts';
import { SETTING_GROUPS } from '../../src/config.ts';
import { systemCode } from '../../src/errors.ts';
import type { DiagnoseDeps, Space } from '../../src/operations/diagnose/diagnose.ts';
import { didYouMean } from '../../src/operations/name-hint.ts';
import { findWriteProblem } from '../../src/own-directory.ts';
import { readVersion, systemClock } from '../../src/system.ts';
import { ask } from './ask.ts';
import type { Context } from './context.ts';
import type { Environment } from './terminal.ts';

/** What a diagnosis of the store knows of this machine. */

/** Shorter names are close to each other by chance. */
const NAME_LENGTH_MIN = 7;

/** Names in the environment that are almost those of settings: `S3_BUKET is not a setting. Did you mean S3_BUCKET?` */
function misspelledIn(environment: Environment): readonly string[] {
  const names = SETTING_GROUPS.flatMap(({ settings }) => settings.map(({ name }) => name));
  return Object.keys(environment)
    .filter((name) => !names.includes(name) && name.length >= NAME_LENGTH_MIN)
    .flatMap((name) => {
      const hint = didYouMean(name, names).trim();
      return hint === '' ? [] : [`${name} is not a setting. ${hint}`];
    });
}

/** For `diagnose`, on the store of a command. */
export async function diagnoseDepsOf(
  context: Context,
  environment: Environment,
): Promise<DiagnoseDeps> {
  const { config } = context;
  const isBucket = config.store.kind === 's3';
  const directory = objectsDirectory(config);
  const signer =
    isBucket || config.publicFilesUrl === undefined
      ? undefined
      : await openSigner(config, () => String(config.publicUrl));
  return {
    ...context,
    // That of the context follows the store's, which would hide a difference.
    clock: systemClock,
    misspelled: misspelledIn(environment),
    versions: `Slipway ${readVersion()}, Node ${process.versions.node}, ${platform()} ${arch()}.`,
    probe: async () => {
      await context.ensureConforming({ fresh: true });
      return 'Of 32 writers at the same moment exactly one creates a key.';
    },
    privateRoots: PRIVATE_ROOTS,
    ask,
    isBucket,
    publicAddress: publicAddressOf(config, signer),
    isOpenToUsers: isBucket ? undefined : () => isOpenToUsers(directory),
    // Asks for the right alone: a publisher needs no such directory.
    findSaveProblem: () => findWriteProblem(config.dataDirectory),
    readSpace: isBucket ? undefined : () => readSpace(directory),
  };
}

/** Of the volume that has the directory, or will have it. */
async function readSpace(directory: string): Promise<Space> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return readSpace(path.dirname(directory));
  }
}

/** On Windows Node reports all permission bits as set. Access lists count there, and Node cannot read them. */
async function isOpenToUsers(directory: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const found = await stat(directory).catch(() => undefined);
  // The store creates a missing directory for its owner alone.
  return found !== undefined && (found.mode & 0o077) !== 0;
}
