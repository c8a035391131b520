import { archOf, platformOf } from '../domain/platform.ts';
import { archInName } from './infer.ts';
import { otherVersionIn } from './name-version.ts';

/** Whether a signature belongs to a file, as far as the file name in its signed comment tells. */

const SUFFIX = /(?:\.app\.tar\.gz|\.tar\.gz|\.[a-z0-9]+)$/i;
/** What CI scripts put into names when they collect bundles, beside version, platform and architecture. */
const KIND_WORDS = new Set(['app', 'appimage', 'bundle', 'deb', 'msi', 'nsis', 'rpm', 'setup']);

/**
 * Why a signature over a file called `signed` is not that of the file `name`; undefined when it may be.
 *
 * CI scripts rename bundles after they are signed (`App.app.tar.gz` to `App_1.0.0_aarch64.app.tar.gz`), so
 * what is compared is the product's name, and version and architecture where both names state them.
 */
export function whyOtherFile(signed: string, name: string, version: string): string | undefined {
  if (signed.normalize('NFC') === name.normalize('NFC')) return undefined;
  const other = otherVersionIn(signed, version);
  if (other !== undefined) return `it signs ${signed}, of version ${other} and not ${version}`;
  const [signedArch, arch] = [archInName(signed), archInName(name)];
  const isSame =
    suffixOf(signed) === suffixOf(name) &&
    productOf(signed, version) === productOf(name, version) &&
    (signedArch === undefined || arch === undefined || signedArch === arch);
  return isSame ? undefined : `it signs another file, ${signed}`;
}

function suffixOf(name: string): string {
  return SUFFIX.exec(name)?.[0].toLowerCase() ?? '';
}

/** The words of a name that say which product it is. */
function productOf(name: string, version: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(SUFFIX, '')
    .replaceAll(version.toLowerCase(), ' ')
    .replaceAll(/x86[_-]64/g, ' ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => archOf(word) === undefined && platformOf(word) === undefined)
    .filter((word) => !KIND_WORDS.has(word))
    .join('');
}
