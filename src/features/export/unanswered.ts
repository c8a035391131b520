import type { LeftOut, PlannedDocument } from './plan.ts';

/** The addresses of this service that documents name. */

interface FileAddress {
  readonly application: string;
  readonly channel: string;
  readonly version: string;
  readonly filename: string;
  /** The decoded path below the address of the service. */
  readonly path: string;
}

/** The application, channel and version in the stable address of a file; undefined for any other address. */
export function fileAtAddress(address: string, publicUrl: string): FileAddress | undefined {
  const path = pathBelow(address, publicUrl);
  if (path === undefined) return undefined;
  const [feeds, application, channel, dialect, version, filename, ...rest] = path.split('/');
  if (feeds !== 'feeds' || dialect === undefined || rest.length > 0) return undefined;
  if (application === undefined || channel === undefined) return undefined;
  if (version === undefined || filename === undefined) return undefined;
  return { application, channel, version, filename, path };
}

/** The decoded path of an address below the address of the service; undefined for any other address. */
export function pathBelow(address: string, publicUrl: string): string | undefined {
  const start = `${publicUrl}/`;
  if (!address.startsWith(start)) return undefined;
  const [path = ''] = address.slice(start.length).split(/[?#]/);
  try {
    return path.split('/').map(decodeURIComponent).join('/');
  } catch {
    return undefined;
  }
}

/** A file that a document names, and that the export does not have. */
export interface NamedFile extends FileAddress {
  /** The address in the document. */
  readonly address: string;
  /** The path of the document. */
  readonly document: string;
}

/**
 * Finds each file, except the files at `paths`, for which a document has a whole address below the address of this
 * service.
 */
export function findMissing(
  documents: readonly PlannedDocument[],
  paths: ReadonlySet<string>,
  publicUrl: string,
): readonly NamedFile[] {
  const seen = new Set<Buffer>();
  const missing = new Map<string, NamedFile>();
  for (const { path: document, body } of documents) {
    if (seen.has(body)) continue;
    seen.add(body);
    for (const address of addressesIn(body.toString(), publicUrl)) {
      const file = fileAtAddress(address, publicUrl);
      if (file === undefined || missing.has(address) || paths.has(file.path)) continue;
      missing.set(address, { ...file, address, document });
    }
  }
  return [...missing.values()];
}

/**
 * Finds the addresses in documents that lead to files that the export does not have. A document that its publisher
 * signed may name the files of a release that was withdrawn later; the service does not send these files, either.
 */
export function findUnanswered(
  documents: readonly PlannedDocument[],
  paths: ReadonlySet<string>,
  publicUrl: string,
): readonly LeftOut[] {
  return findMissing(documents, paths, publicUrl).map((file): LeftOut => {
    const { application, channel, version, document, address } = file;
    return {
      reason: 'unanswered_address',
      application,
      channel,
      dialect: null,
      versions: [version],
      detail: `${document} names ${address}, which the service does not answer with a file.`,
    };
  });
}

function addressesIn(text: string, publicUrl: string): readonly string[] {
  const found: string[] = [];
  const start = `${publicUrl}/`;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    // Addresses are percent-encoded, so the characters that end them in JSON, YAML, XML and text do not occur in them.
    const rest = text.slice(at, at + ADDRESS_LENGTH_MAX);
    found.push(/^[^\s"'<>`\\]+/.exec(rest)?.[0].replaceAll('&amp;', '&') ?? '');
  }
  return found;
}

const ADDRESS_LENGTH_MAX = 4096;
