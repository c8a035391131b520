import { newestTextFirst } from '../../domain/version.ts';
import type { LegacyStaticAddress } from '../../updaters/legacy/legacy-static.ts';
import type { PlannedDocument } from './plan.ts';
import { fileAtAddress } from './unanswered.ts';

/** Settles the documents `RELEASES` at the addresses of older servers, which contain the version of the client. */

/**
 * Decides the document at each of these addresses. Squirrel.Windows takes an empty `RELEASES` as a failure, so the
 * service says "no update" with a line of the client's own package. The export does not have that package when its
 * release is paused, withdrawn or of another channel. The address then gets the document with the newest package in the
 * export. For this client, that document also means "no update", because Squirrel.Windows installs nothing older. When
 * the export has no such document, or when even this newest package is newer than the client, the address gets no
 * document.
 *
 * @param files the paths of the files in the export
 */
export function settleReleases(
  documents: readonly PlannedDocument[],
  addresses: readonly LegacyStaticAddress[],
  files: ReadonlySet<string>,
  publicUrl: string,
): readonly PlannedDocument[] {
  const stated = new Map(addresses.map(({ path, releases }) => [path, releases]));
  const packagesIn = rememberPackages(files, publicUrl);
  /** The document with the newest package, for each group. */
  const newest = new Map<string, Complete>();
  for (const document of documents) {
    const group = stated.get(document.path)?.group;
    const version = group === undefined ? undefined : packagesIn(document.body);
    if (group === undefined || version === undefined) continue;
    const known = newest.get(group);
    const isNewer = known === undefined || isAtMost(known.version, version);
    if (isNewer) newest.set(group, { version, document });
  }
  return documents.flatMap((document): readonly PlannedDocument[] => {
    const own = stated.get(document.path);
    if (own === undefined || packagesIn(document.body) !== undefined) return [document];
    const other = newest.get(own.group);
    if (other === undefined || !isAtMost(other.version, own.version)) return [];
    return [{ ...other.document, path: document.path }];
  });
}

interface Complete {
  readonly document: PlannedDocument;
  /** The newest version among the packages that the document names. */
  readonly version: string;
}

function isAtMost(a: string, b: string): boolean {
  return newestTextFirst(a, b) >= 0;
}

/**
 * Returns a function of a document. The function finds the newest version among the packages that the document names,
 * or undefined when the export lacks one of these packages. The function examines each document only once.
 */
function rememberPackages(files: ReadonlySet<string>, publicUrl: string) {
  const known = new Map<Buffer, string | undefined>();
  return (body: Buffer): string | undefined => {
    if (!known.has(body)) known.set(body, newestPackage(body, files, publicUrl));
    return known.get(body);
  };
}

function newestPackage(
  body: Buffer,
  files: ReadonlySet<string>,
  publicUrl: string,
): string | undefined {
  const versions: string[] = [];
  for (const line of body.toString().split('\n')) {
    const address = line.split(' ')[1] ?? '';
    const file = fileAtAddress(address, publicUrl);
    if (file === undefined || !files.has(file.path)) return undefined;
    versions.push(file.version);
  }
  return versions.sort((a, b) => newestTextFirst(b, a)).at(-1);
}
