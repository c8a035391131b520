import { readPlainFile } from '../../core/plain-file.ts';
import { parseMinisignSignature, statedIn } from '../../domain/minisign.ts';
import { archOf, platformOf } from '../../domain/platform.ts';
import { type ArtifactSignature, MINISIGN } from '../../domain/signature.ts';
import { archInName } from '../infer.ts';
import { otherVersionIn } from '../name-version.ts';
import { refusal } from '../refusal.ts';

/** Tauri's `.sig`: base64 of a minisign signature file, as `tauri signer` writes it. */

const SIG_BYTES_MAX = 16 * 1024;

/**
 * Reads a `.sig` file.
 *
 * @throws AppError `invalid_artifact` for a file that is no such signature, or is the signature of another file
 */
export async function readTauriSignature(
  path: string,
  file: string,
  version: string,
): Promise<ArtifactSignature> {
  const value = (await readPlainFile(path, SIG_BYTES_MAX))?.toString('utf8') ?? '';
  return parseTauriSignature(value, path, file, version);
}

/**
 * Checks a signature, and does not change its text: the updater verifies the text that `tauri signer` wrote.
 *
 * @param value the text of a `.sig` file, or of an entry of `latest.json`
 * @param path of the file that contains the signature
 * @param file the name of the file beside the signature
 * @param version the version that is published
 * @throws AppError `invalid_artifact` when the text is not a minisign signature, or states another file or version.
 *   Names of macOS archives have no version, so only this check notices a stale signature
 */
export function parseTauriSignature(
  value: string,
  path: string,
  file: string,
  version: string,
): ArtifactSignature {
  const signature = parseMinisignSignature(value);
  if (signature === undefined) {
    throw refusal(
      path,
      'it is not a minisign signature as Tauri writes it. Sign the file with "tauri signer sign".',
    );
  }
  // The client also ignores a leading v.
  const signed = statedIn(signature, 'version')?.replace(/^v+/, '');
  if (signed !== undefined && signed !== version) {
    // The client does not trim the version, so white space makes it another version. Quotes show the white space in the
    // message.
    const shown = /\s/.test(signed) ? JSON.stringify(signed) : signed;
    throw refusal(path, `it signs version ${shown}, not ${version}. Build and sign ${version}.`);
  }
  const signedFile = statedIn(signature, 'file')?.trim();
  const reason = signedFile === undefined ? undefined : whyOtherFile(signedFile, file, version);
  if (reason !== undefined) {
    throw refusal(path, `${reason}. Sign ${file} with "tauri signer sign".`);
  }
  return { scheme: MINISIGN, keyId: signature.keyId, value };
}

const SUFFIX = /(?:\.app\.tar\.gz|\.tar\.gz|\.[a-z0-9]+)$/i;
/** Words that CI scripts add to names or remove from names, as they do with the version and the target. */
const MODE = /^(?:release|debug|[a-z]{2}-[a-z]{2})$/;
const KIND = /^(?:app|appimage|bundle|deb|msi|nsis|rpm|setup)$/;

/**
 * Says why a signature over a file called `signed` is not the signature of the file `name`; undefined when it may be.
 *
 * CI scripts rename bundles after they are signed (`App.app.tar.gz` to `App_1.0.0_aarch64.app.tar.gz`). So this
 * function compares the product's name. It compares the architecture only when both names state one.
 */
function whyOtherFile(signed: string, name: string, version: string): string | undefined {
  if (signed.normalize('NFC') === name.normalize('NFC')) return undefined;
  const other = otherVersionIn(signed, version);
  if (other !== undefined) return `it signs ${signed}, of version ${other} and not ${version}`;
  const signedArch = archInName(signed);
  const arch = archInName(name);
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
 * The letters and digits of a name that identify the product. When the name has ASCII letters or digits, only these
 * count, because GitHub replaces other characters by dots.
 */
function productOf(name: string, version: string): string {
  const stem = name.normalize('NFC').toLowerCase().replace(SUFFIX, '');
  const pattern = version.toLowerCase().replaceAll(/[.+]/g, '\\$&');
  const words = stem
    // The release number of an RPM follows its version.
    .replaceAll(new RegExp(`v?${pattern}(-\\d+(?=\\.|$))?`, 'g'), ' ')
    .replaceAll(/x86[_-]64/g, ' ')
    .split(/[^\p{L}\p{N}-]+/u)
    .flatMap((word) => (MODE.test(word) ? [] : word.split('-')))
    .filter((word) => archOf(word) === undefined && !MODE.test(word));
  const isPlatform = (word: string): boolean => platformOf(word) !== undefined;
  // When the name has no other words, words such as App and Mac count, because a product may have such a name.
  const letters =
    words.filter((word) => !isPlatform(word) && !KIND.test(word)).join('') ||
    words.filter((word) => !isPlatform(word)).join('') ||
    words.join('');
  return letters.replaceAll(/[^a-z0-9]/g, '') || letters;
}
