import type { Arch } from '../domain/platform.ts';
import { archInName } from './infer.ts';
import { refusal } from './refusal.ts';

/** The names that artifacts are published under. */

/** Leaves room for `.blockmap`, and for suffixes of stores and file systems. */
const FILENAME_BYTES_MAX = 200;

/**
 * Control and format characters, unusual spaces, separators, and characters that Windows cannot save. Bidirectional
 * marks display `jpg.exe` as `exe.gpj`, and zero-width characters make two names look the same.
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164\uffa0\ufffd\u2044\u2215\uff0f\uff3c/\\<>:"|?*]|[\ufe00-\ufe0f]/u;
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Says why a name cannot be published; undefined when it can. */
export function whyUnpublishable(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (Buffer.byteLength(name) > FILENAME_BYTES_MAX) {
    return `it is longer than ${FILENAME_BYTES_MAX} bytes`;
  }
  if (name.startsWith('.')) return 'it begins with a dot';
  if (/^ |[ .]$/.test(name)) return 'it begins or ends with a space, or ends with a dot';
  if (FORBIDDEN.test(name)) {
    return 'it contains a slash, a control or invisible character, or one of < > : " | ? *';
  }
  return WINDOWS_DEVICE.test(name) ? 'Windows reserves it for a device' : undefined;
}

/**
 * Returns a name in NFC. macOS returns decomposed names, so without NFC the same build would have two names.
 *
 * @throws AppError `invalid_artifact` for a name that cannot be published
 */
export function checkFilename(path: string, name: string): string {
  const composed = name.normalize('NFC');
  const reason = whyUnpublishable(composed);
  if (reason === undefined) return composed;
  throw refusal(
    path,
    `it cannot be published under the name ${JSON.stringify(composed.slice(0, 80))}: ${reason}. Add ,name=… with another name.`,
  );
}

/**
 * Adds the architecture to a name that states none. Otherwise builds of two architectures would have the same name. A
 * name for x64 does not change, because electron-builder writes no architecture into such names either.
 *
 * The architecture goes before the version, because Squirrel reads the text after a version as a pre-release.
 */
export function insertArch(name: string, arch: Arch): string {
  if (arch === 'x64' || archInName(name) !== undefined) return name;
  const version = /[-_ ]v?\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(name);
  if (version !== null) {
    return `${name.slice(0, version.index)}-${arch}${name.slice(version.index)}`;
  }
  const setup = /[-_ ]?setup\.(exe|msi)$/i.exec(name);
  const at = setup !== null && setup.index > 0 ? setup.index : name.lastIndexOf('.');
  return at > 0 ? `${name.slice(0, at)}-${arch}${name.slice(at)}` : `${name}-${arch}`;
}
