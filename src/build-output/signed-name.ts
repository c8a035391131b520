import { archOf, platformOf } from '../domain/platform.ts';
import { archInName } from './infer.ts';
import { otherVersionIn } from './name-version.ts';

/** Whether a signature belongs to a file, as far as the file name in its signed comment tells. */

const SUFFIX = /(?:\.app\.tar\.gz|\.tar\.gz|\.[a-z0-9]+)$/i;
/** What CI scripts put into names or leave out when they collect bundles, beside version and machine. */
const MODE = /^(?:release|debug|[a-z]{2}-[a-z]{2})$/;
const KIND = /^(?:app|appimage|bundle|deb|msi|nsis|rpm|setup)$/;

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

/**
 * The letters and digits of a name that say which product it is; ASCII alone where there are any, since
 * GitHub replaces the others by dots.
 */
function productOf(name: string, version: string): string {
  const stem = name.normalize('NFC').toLowerCase().replace(SUFFIX, '');
  const pattern = version.toLowerCase().replaceAll(/[.+]/g, '\\$&');
  const words = stem
    // An RPM's release number follows its version.
    .replaceAll(new RegExp(`v?${pattern}(-\\d+(?=\\.|$))?`, 'g'), ' ')
    .replaceAll(/x86[_-]64/g, ' ')
    .split(/[^\p{L}\p{N}-]+/u)
    .flatMap((word) => (MODE.test(word) ? [] : word.split('-')))
    .filter((word) => archOf(word) === undefined && !MODE.test(word));
  const isPlatform = (word: string): boolean => platformOf(word) !== undefined;
  // A product may be called App, or Mac.
  const letters =
    words.filter((word) => !isPlatform(word) && !KIND.test(word)).join('') ||
    words.filter((word) => !isPlatform(word)).join('') ||
    words.join('');
  return letters.replaceAll(/[^a-z0-9]/g, '') || letters;
}
