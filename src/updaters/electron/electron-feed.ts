import { stringify } from 'yaml';
import { findCarried } from '../../domain/carried-document.ts';
import type { Reason } from '../../domain/decide-update.ts';
import type { Release } from '../../domain/release.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { versionText } from '../../domain/version.ts';
import { type FeedListing, filePath, type ProtocolResponse, type Question } from '../protocol.ts';
import { describeElectronUpdate } from './electron-info.ts';

/** The documents of electron-updater's dialect: `latest.yml` and the like. `electron.ts` parses the requests. */

const YAML = { 'content-type': 'text/yaml; charset=utf-8' };

/**
 * A document names its files relative to its own address, or by absolute addresses. Absolute addresses are for a
 * document of another channel, because the files of that channel are not below the document's address.
 */
export const ELECTRON_RELATIVE = 'relative';
export const ELECTRON_ABSOLUTE = 'absolute';

/** The document of an offered release. */
export function renderElectronFeed(listing: FeedListing): ProtocolResponse {
  const { release } = listing;
  const info = describeElectronUpdate({
    ...listing,
    urlOf: (filename) =>
      listing.document === ELECTRON_RELATIVE
        ? filePath(release.version, filename)
        : listing.fileUrl(release.version, filename),
  });
  // No file is left when some client would choose each file wrongly by its name: see `electron-info.ts`.
  return info === undefined ? noUpdate(NEVER_NEWER, 'unsupported_platform') : yaml(info);
}

/**
 * The document that electron-builder signed for a machine. The client applies the document's `stagingPercentage`, and
 * resolves its addresses against the address of the feed.
 */
export function renderSignedElectronFeed(
  machine: Pick<UpdateQuery, 'platform' | 'arch'>,
  release: Pick<Release, 'carried'> & { readonly documents: ReadonlyMap<string, Uint8Array> },
): ProtocolResponse | undefined {
  const document = findCarried(release.carried, machine);
  const body = document && release.documents.get(document.name);
  return body && { status: 200, headers: YAML, body };
}

/** Older than every other version, and strict semver. */
const NEVER_NEWER = '0.0.0-0';
/** Newer than every kernel. */
const UNREACHABLE_SYSTEM = '999999.0.0';

/**
 * The client treats 404 and 204 as errors, so "no update" is a document. The document states the client's own version,
 * or a version that is older than every other version. A client that allows downgrades would install an older version.
 * So the document also requires a system that does not exist, and states a rollout to 0 % of the clients. Clients
 * before 6.3 read only the percentage.
 */
export function renderElectronNoUpdate({ query }: Question, reason: Reason): ProtocolResponse {
  const { currentVersion } = query;
  return noUpdate(currentVersion === null ? NEVER_NEWER : versionText(currentVersion), reason);
}

function noUpdate(version: string, reason: Reason): ProtocolResponse {
  const never = { minimumSystemVersion: UNREACHABLE_SYSTEM, stagingPercentage: 0 };
  return yaml({ version, files: [], ...never, reason });
}

/**
 * Quotes every string. The client's parser would make a Date of a plain timestamp, but the client's API promises text.
 */
function yaml(document: object): ProtocolResponse {
  const body = stringify(document, {
    defaultStringType: 'QUOTE_SINGLE',
    defaultKeyType: 'PLAIN',
    // No text is folded, because the client's parser reads a backslash at a fold as a part of the text.
    lineWidth: 0,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
  return { status: 200, headers: YAML, body };
}
