import { stat, statfs } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import path from 'node:path';
import type { Environment, Facts } from '../../cli/facts.ts';
import type { Diagnose, DiagnosedStore, Terminal } from '../../cli/terminal.ts';
import { systemCode } from '../../core/errors.ts';
import { didYouMean } from '../../core/name-hint.ts';
import { findWriteProblem } from '../../core/own-directory.ts';
import { readVersion, systemClock } from '../../core/system.ts';
import { objectsDirectory, openSigner, publicAddressOf } from '../../store/open/stores.ts';
import { ask } from './ask-over-http.ts';
import { type DiagnoseDeps, diagnose, type Space } from './diagnose/diagnose.ts';

/** Runs the checks of a store, and gives them the facts about this machine. */

/** The command compares no shorter names, because short names are similar by chance. */
const NAME_LENGTH_MIN = 7;

/**
 * Finds names in the environment that are almost names of settings: `S3_BUKET is not a setting. Did you mean
 * S3_BUCKET?`
 */
function misspelledIn(
  environment: Environment,
  { settingGroups }: Pick<Facts, 'settingGroups'>,
): readonly string[] {
  const names = settingGroups.flatMap(({ settings }) => settings.map(({ name }) => name));
  return Object.keys(environment)
    .filter((name) => !names.includes(name) && name.length >= NAME_LENGTH_MIN)
    .flatMap((name) => {
      const hint = didYouMean(name, names).trim();
      return hint === '' ? [] : [`${name} is not a setting. ${hint}`];
    });
}

export const diagnoseStore: Diagnose = async (terminal, store) =>
  diagnose(await depsOf(terminal, store));

async function depsOf(terminal: Terminal, store: DiagnosedStore): Promise<DiagnoseDeps> {
  const facts = await terminal.facts();
  const { config } = store;
  const isBucket = config.store.kind === 's3';
  const directory = objectsDirectory(config);
  const signer =
    isBucket || config.publicFilesUrl === undefined
      ? undefined
      : await openSigner(config, () => String(config.publicUrl));
  return {
    ...store,
    // The clock of commands follows the clock of the store, so it would hide a difference.
    clock: systemClock,
    storeClock: store.clock,
    misspelled: misspelledIn(terminal.environment(), facts),
    versions: `Slipway ${readVersion()}, Node ${process.versions.node}, ${platform()} ${arch()}.`,
    probe: async () => {
      await store.ensureConforming({ fresh: true });
      return 'Of 32 writers at the same moment exactly one creates a key.';
    },
    privateRoots: facts.keys.flatMap((area) => area.privateRoots),
    ask,
    isBucket,
    publicAddress: publicAddressOf(config, signer),
    isOpenToUsers: isBucket ? undefined : () => isOpenToUsers(directory, config.filesOffload),
    // Checks only the right to write, and not that the directory exists, because a publisher needs no such directory.
    findSaveProblem: () => findWriteProblem(config.dataDirectory),
    readSpace: isBucket ? undefined : () => readSpace(directory),
  };
}

/** Reads the space of the volume that has the directory, or will have it. */
async function readSpace(directory: string): Promise<Space> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return readSpace(path.dirname(directory));
  }
}

/**
 * With FILES_OFFLOAD, the group may have rights, because the proxy is in the group. On Windows, Node reports all
 * permission bits as set: access lists decide there, and Node cannot read them.
 */
async function isOpenToUsers(directory: string, filesOffload: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const found = await stat(directory).catch(() => undefined);
  // A missing directory is no problem: only its owner can read a directory that the store creates.
  const others = filesOffload === 'off' ? 0o077 : 0o007;
  return found !== undefined && (found.mode & others) !== 0;
}
