import { statedVersions } from '../../../builds/name-version.ts';
import { tryParseVersion } from '../../../domain/version.ts';
import { versionsInName } from '../../../domain/version-in-name.ts';

/**
 * The version of a file in a folder with many versions. When the name contains versions that the folder's feeds list,
 * it is the longest of these. Otherwise it is the version that the name states. Undefined when the name states no
 * semantic version (`App-1.2.exe`, `App-1.2.3.4.exe`).
 */
export function versionOfName(fullName: string, known: ReadonlySet<string>): string | undefined {
  // Removes `.7z`, because the 7 would look like a fourth number of the version.
  const name = fullName.replace(/\.blockmap$/i, '').replace(/\.7z$/i, '');
  const found = versionsInName(name).find((version) => known.has(version));
  if (found !== undefined) return found;
  const [stated] = statedVersions(name);
  if (stated === undefined || tryParseVersion(stated) === undefined) return undefined;
  const [core = ''] = stated.split('-', 1);
  return new RegExp(`${core.replaceAll('.', '\\.')}\\.\\d`).test(name) ? undefined : stated;
}
