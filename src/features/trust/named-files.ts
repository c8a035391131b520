import { AppError } from '../../core/errors.ts';
import type { CompanionKind } from '../../domain/companion.ts';
import type { Release } from '../../domain/release.ts';

/** The files that a signature vouches for, and the digests that a script names before it signs. */

/** A file or a signed document of a release. */
export interface ReleaseFile {
  readonly name: string;
  readonly kind: 'artifact' | CompanionKind | 'document';
  /** Set for a companion: the name of its artifact. */
  readonly of: string | null;
  /** Set for an artifact: `windows-x64`. */
  readonly target: string | null;
  readonly format: string | null;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Everything in a release that has bytes of its own. Companions follow their artifact; documents are last. */
export function filesOf({ artifacts, carried }: Pick<Release, 'artifacts' | 'carried'>) {
  const files = artifacts.flatMap((artifact): ReleaseFile[] => {
    const { filename, platform, arch, format, size, sha256, companions } = artifact;
    const target = `${platform}-${arch}`;
    return [
      { name: filename, kind: 'artifact', of: null, target, format, size, sha256 },
      ...companions.map((companion) => ({
        name: companion.filename,
        kind: companion.kind,
        of: filename,
        target: null,
        format: null,
        size: companion.size,
        sha256: companion.sha256,
      })),
    ];
  });
  const documents = carried.map(({ name, size, sha256 }): ReleaseFile => {
    return { name, kind: 'document', of: null, target: null, format: null, size, sha256 };
  });
  return [...files, ...documents];
}

/** A file as `--sha256 NAME=HEX` names it. */
export type NamedFile = Pick<ReleaseFile, 'name' | 'sha256'>;

/** The digests that the operator knows from elsewhere: from the build, or from a look at the draft. */
export interface NamedDigests {
  /** The SHA-256 of the manifest, in lower-case hex; absent: not named. */
  readonly manifest?: string;
  /** Absent: no file is named. Otherwise every file of the release must be named. */
  readonly sha256?: readonly NamedFile[];
}

/**
 * Compares a draft with the digests that the operator names. An attacker with the key of an operator can replace a
 * draft after the operator has seen it.
 *
 * @param manifest the SHA-256 of the draft's manifest
 * @throws AppError `release_differs`
 */
export function checkNamed(
  { manifest, files }: { readonly manifest: string; readonly files: readonly ReleaseFile[] },
  named: NamedDigests,
): void {
  if (named.manifest !== undefined && named.manifest !== manifest) {
    throw differs(
      `The manifest of the draft has the SHA-256 ${manifest}, and --manifest names ${named.manifest}.`,
    );
  }
  if (named.sha256 === undefined) return;
  for (const each of named.sha256) checkFile(files, each);
  const given = named.sha256;
  const missing = files.filter((file) => !given.some((each) => isSame(each, file)));
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    throw differs(`The draft also has these files, which no --sha256 names: ${names}.`);
  }
}

function checkFile(files: readonly ReleaseFile[], named: NamedFile): void {
  if (files.some((file) => isSame(file, named))) return;
  const file = files.find(({ name }) => name === named.name);
  throw differs(
    file === undefined
      ? `The draft has no file ${named.name}, which --sha256 names.`
      : `${file.name} in the draft has the SHA-256 ${file.sha256}, and --sha256 names ${named.sha256}.`,
  );
}

function isSame(a: NamedFile, b: NamedFile): boolean {
  return a.name === b.name && a.sha256 === b.sha256;
}

function differs(what: string): AppError {
  return new AppError(
    'release_differs',
    `${what} Nothing was signed. "slipway history" says who changed the draft.`,
  );
}
