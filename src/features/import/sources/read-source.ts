import { misuse } from '../../../builds/refusal.ts';
import { readAppcastFolder } from './appcast-folder.ts';
import { oldestFirst } from './collect.ts';
import { readElectronFolder } from './electron-folder.ts';
import { readGithub } from './github.ts';
import { recognizeSource } from './recognize.ts';
import { DEFAULT_FLAVOR, readReleaseServer } from './release-server.ts';
import type { ImportSource, SourceContents, SourceKind, SourceRequest } from './source.ts';
import { readSquirrelFolder } from './squirrel-folder.ts';
import { readTauriFolder } from './tauri-folder.ts';
import { readVelopackFolder } from './velopack-folder.ts';

const READERS: Readonly<Record<SourceKind, (request: SourceRequest) => Promise<SourceContents>>> = {
  'electron-builder': readElectronFolder,
  squirrel: readSquirrelFolder,
  velopack: readVelopackFolder,
  appcast: readAppcastFolder,
  tauri: readTauriFolder,
  github: readGithub,
  'electron-release-server': readReleaseServer,
};

/**
 * Reads the history of another update server: its releases, the oldest first, and the problems of the releases that
 * cannot be imported. It hashes no file; publishing compares the hashes that the source states.
 *
 * @param request.path a directory, or the index in it
 * @throws AppError `invalid_request` when the source is not recognized, or its index cannot be read; `invalid_artifact`
 *   when a directory cannot be read
 */
export async function readImportSource(request: {
  readonly path: string;
  /** Undefined: the import recognizes the kind by the files. */
  readonly kind?: SourceKind | undefined;
  readonly flavor?: string | undefined;
  readonly tagPrefix?: string | undefined;
}): Promise<ImportSource> {
  const { flavor = DEFAULT_FLAVOR, tagPrefix = '' } = request;
  const { kind, directory, index } = await recognizeSource(request.path, request.kind);
  if (tagPrefix !== '' && kind !== 'github') {
    throw misuse(request.path, `it is of ${kind}, which has no tags. Leave out --tag-prefix`);
  }
  const contents = await READERS[kind]({ directory, index, flavor, tagPrefix });
  return { ...contents, kind, path: index ?? directory, releases: oldestFirst(contents.releases) };
}
