import { lstat } from 'node:fs/promises';
import { isRecord } from '../../core/json-record.ts';
import { readPlainText } from '../../core/plain-file.ts';
import type { Arch } from '../../domain/platform.ts';
import { hasCode } from '../refusal.ts';
import { beside, type SourceFile } from '../source-file.ts';
import { parseYaml } from '../yaml.ts';

const FOLDERS: Readonly<Partial<Record<Arch, string>>> = {
  x64: 'win-unpacked',
  arm64: 'win-arm64-unpacked',
  ia32: 'win-ia32-unpacked',
};
const CONFIGURATION_BYTES_MAX = 64 * 1024;

/**
 * The publishers whose updates the application in an installer accepts: `publisherName` in the `app-update.yml` that
 * electron-builder leaves in the unpacked folder beside the installer. Empty: it accepts every publisher. Undefined:
 * there is no such folder.
 */
export async function readAcceptedPublishers(
  file: SourceFile,
  arch: Arch,
): Promise<readonly string[] | undefined> {
  const folder = FOLDERS[arch === 'universal' ? 'x64' : arch];
  if (folder === undefined || !file.siblings.includes(folder)) return undefined;
  const path = beside(file, `${folder}/resources/app-update.yml`);
  try {
    if (!(await lstat(path)).isFile()) return undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
  const parsed = parseYaml((await readPlainText(path, CONFIGURATION_BYTES_MAX)) ?? '');
  const configuration = 'value' in parsed ? parsed.value : undefined;
  if (!isRecord(configuration)) return undefined;
  return [configuration.publisherName ?? []].flat().filter((name) => typeof name === 'string');
}
