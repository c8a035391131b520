import { fileByProduct } from '../../../builds/by-product.ts';
import { misuse } from '../../../builds/refusal.ts';
import { isRecord, type JsonRecord } from '../../../core/json-record.ts';
import { archOf, platformOf } from '../../../domain/platform.ts';
import { collectSettled } from './collect.ts';
import { listFiles, nameInAddress } from './files.ts';
import { readJsonValues, textIn } from './json-index.ts';
import { settle } from './settle.ts';
import type { SourceContents, SourceIssue, SourceRequest, StatedFile } from './source.ts';
import { versionOfName } from './version-of-name.ts';

/**
 * The folder of a static server for Tauri's updater. It contains `latest.json` with the signatures of the newest
 * version, the bundles of this version, and files of other versions with their `.sig` files.
 */

const LATEST = 'latest.json';

export function isTauriIndex(values: readonly unknown[]): boolean {
  const [value] = values;
  return isRecord(value) && textIn(value, 'version') !== null && isRecord(value.platforms);
}

/** @throws AppError `invalid_request` for a file that is no such document */
export async function readTauriFolder(request: SourceRequest): Promise<SourceContents> {
  const { directory, index = `${directory}/${LATEST}` } = request;
  const values = (await readJsonValues(index)) ?? [];
  const [value] = values;
  if (!isTauriIndex(values) || !isRecord(value)) {
    throw misuse(index, "it is not a latest.json of Tauri's updater. Copy it again");
  }
  const newest = (textIn(value, 'version') ?? '').replace(/^v(?=\d)/, '');
  const files = await listFiles(directory, 1);
  const listed = listedFiles(value, index);
  const groups = new Map<string, StatedFile[]>([[newest, []]]);
  const refused: SourceIssue[] = [];
  const add = (version: string, file: StatedFile): void => {
    const own = groups.get(version) ?? [];
    groups.set(version, [...own, { ...file, path: files.get(file.name) }]);
  };
  for (const file of listed.values()) add(newest, file);
  for (const name of files.keys()) {
    if (listed.has(name) || /\.json$/i.test(name) || fileByProduct(name) !== undefined) continue;
    // The names of the archive for macOS and of its signature contain no version.
    const main = name.replace(/\.sig$/i, '');
    const version = listed.has(main) ? newest : versionOfName(main, new Set([newest]));
    if (version === undefined) {
      const reason = `its name states no semantic version, and ${LATEST} does not list it. Publish it by hand, or rename it`;
      refused.push({ label: name, reason });
    } else add(version, { name, path: undefined, size: undefined, digests: [], statedIn: index });
  }
  const settled = await Promise.all(
    [...groups].map(([version, own]) => {
      const about = version === newest ? value : {};
      return settle({
        label: version,
        version,
        channel: null,
        name: null,
        files: own,
        date: textIn(about, 'pub_date'),
        notes: textIn(about, 'notes'),
      });
    }),
  );
  return collectSettled(settled, { refused, leftOut: [] });
}

/** The files of the newest version, by name. `latest.json` lists a universal bundle once for each architecture. */
function listedFiles(value: JsonRecord, index: string): ReadonlyMap<string, StatedFile> {
  const files = new Map<string, StatedFile>();
  for (const [target, entry] of Object.entries(isRecord(value.platforms) ? value.platforms : {})) {
    if (!isRecord(entry)) continue;
    const name = nameInAddress(textIn(entry, 'url') ?? '');
    if (name === undefined) continue;
    // `darwin-aarch64`, `windows-x86_64-nsis`
    const [system = '', machine = ''] = target.split('-');
    const known = files.get(name);
    const arch = archOf(machine);
    const isForBoth = known !== undefined && known.arch !== arch;
    files.set(name, {
      name,
      path: undefined,
      size: undefined,
      digests: [],
      statedIn: index,
      platform: platformOf(system),
      arch: isForBoth ? 'universal' : arch,
      signature: textIn(entry, 'signature') ?? undefined,
    });
  }
  return files;
}
