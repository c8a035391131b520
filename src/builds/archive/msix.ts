import { isAppError } from '../../core/errors.ts';
import { childrenOf, parseXml, type XmlElement } from '../../core/xml.ts';
import { type Arch, archOf } from '../../domain/platform.ts';
import type { ApplicationArch } from './mac-application.ts';
import { readStarts } from './read-starts.ts';

/** Reads the manifest of an MSIX package, or of a bundle of several packages. An `.appx` has the same manifests. */

const PACKAGE = 'AppxManifest.xml';
const BUNDLE = 'AppxMetadata/AppxBundleManifest.xml';
const MANIFEST_BYTES_MAX = 1024 * 1024;

export function isBundle(name: string): boolean {
  return /\.(msix|appx)bundle$/i.test(name);
}

/**
 * The architecture of a package; `universal` for a bundle of several packages, and for a package that runs on every
 * processor.
 *
 * @throws AppError `invalid_artifact`; the system's error when the file itself cannot be read
 */
export async function readMsix(path: string): Promise<ApplicationArch> {
  const wanted = isBundle(path) ? BUNDLE : PACKAGE;
  const entries = await readStarts(path, 'zip', (name) =>
    name.toLowerCase() === wanted.toLowerCase() ? MANIFEST_BYTES_MAX : 0,
  );
  if ('problem' in entries) return { arch: undefined, problem: entries.problem };
  const [manifest] = entries;
  if (manifest === undefined) return { arch: undefined, problem: `it has no ${wanted}` };
  try {
    const root = parseXml(manifest.start.toString().replace(/^\uFEFF/, ''));
    const arches = new Set(wanted === BUNDLE ? archesOfBundle(root) : archesOfPackage(root));
    return { arch: arches.size > 1 ? 'universal' : [...arches][0], problem: undefined };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { arch: undefined, problem: `its manifest cannot be read: ${error.message}` };
  }
}

function archesOfPackage(root: XmlElement): readonly Arch[] {
  const [identity] = childrenOf(root, 'Identity');
  return identity === undefined ? [] : archOfWord(identity.attributes.ProcessorArchitecture);
}

/** Resource packages, such as language packs, contain no program. */
function archesOfBundle(root: XmlElement): readonly Arch[] {
  return childrenOf(root, 'Packages')
    .flatMap(({ children }) => children)
    .filter(({ attributes }) => (attributes.Type ?? 'application') === 'application')
    .flatMap(({ attributes }) => archOfWord(attributes.Architecture));
}

/** A manifest that states no architecture means `neutral`. */
function archOfWord(word = 'neutral'): readonly Arch[] {
  const arch = word.toLowerCase() === 'neutral' ? 'universal' : archOf(word);
  return arch === undefined ? [] : [arch];
}
