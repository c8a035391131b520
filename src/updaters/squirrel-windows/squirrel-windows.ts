import { type Arch, archOf } from '../../domain/platform.ts';
import {
  isSquirrelVersion,
  squirrelTextOf,
  squirrelVersionIn,
  versionsWrittenAs,
} from '../../domain/squirrel-version.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { parseClientVersion, type Version, versionText } from '../../domain/version.ts';
import {
  commonQuery,
  type FeedProtocol,
  type ProtocolRequest,
  type Question,
} from '../protocol.ts';
import type { StaticAddress } from '../static-address.ts';
import { SQUIRREL_ADDRESSES } from './squirrel-addresses.ts';
import {
  documentOf,
  renderOwnRelease,
  renderReleases,
  SQUIRREL_ABSOLUTE,
  SQUIRREL_BARE,
  type SquirrelAddresses,
} from './squirrel-releases.ts';
import { describeSquirrelSetUp } from './squirrel-set-up.ts';

/**
 * Squirrel.Windows.
 *
 * `GET {base}/RELEASES?id=&localVersion=&arch=amd64|x86`, and files at `{base}/{name}`. After any failure, the client
 * asks again with the whole address in lower case, so the service ignores case in the names of the document and of the
 * parameters.
 *
 * `arch` names the operating system, not the application: a 32-bit application on a 64-bit system sends `amd64`. So
 * `arch` counts as not stated, unless it is `x86`. An application that needs a certain architecture has that
 * architecture in its address: `{base}/arm64/RELEASES`. The document at this address names its files by their absolute
 * addresses.
 *
 * The client writes `1.0.0-beta1` for the version `1.0.0-beta.1`, see `squirrel-version.ts`. The client sends no id of
 * the installation.
 */
export const squirrelWindows: FeedProtocol = {
  shape: 'feed',
  name: 'squirrel-windows',
  title: 'Squirrel.Windows',
  takesPost: false,
  addresses: SQUIRREL_ADDRESSES,
  varyHeaders: [],
  olderReleasesMax: 20,
  formatsFor: (platform) => (platform === 'windows' ? ['squirrel'] : []),
  signatureScheme: null,
  osGate: 'server',
  // A first installation states no version.
  mayOmit: (platform) => (platform === 'windows' ? ['version', 'arch'] : []),
  listsOwnRelease: true,
  parseRequest,
  listStatic: listSquirrelAddresses,
  describeSetUp: describeSquirrelSetUp,
  renderListing: (listing) => renderReleases(SQUIRREL, listing),
  renderNoUpdate: (asked, _reason, input) =>
    renderOwnRelease(SQUIRREL, asked.query.application, input),
  warnOf: ({ format, filename }) =>
    format === 'squirrel' ? warnOfName(filename, squirrelVersionIn(filename)) : undefined,
};

const SQUIRREL = { format: 'squirrel', hasDeltas: true } as const;

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [first = '', second, ...rest] = request.path;
  if (rest.length > 0) return undefined;
  if (second === undefined) {
    return isReleases(first) ? parseReleases(request, SQUIRREL_BARE) : undefined;
  }
  const arch = archOf(first);
  if (arch === undefined || !isReleases(second)) return undefined;
  return parseReleases(request, SQUIRREL_ABSOLUTE, arch);
}

function isReleases(name: string): boolean {
  return name.toLowerCase() === 'releases';
}

/**
 * The question of a client for `RELEASES`, whatever its path: the version and the machine are in the query.
 *
 * @param addresses the kind of addresses that the document has for its files
 * @param arch of the application; absent: as the client states it
 * @throws AppError `invalid_version`
 */
export function parseReleases(
  request: ProtocolRequest,
  addresses: SquirrelAddresses,
  arch?: Arch,
): Question {
  const query = lowerCaseNames(request.query);
  const version = parseLocalVersion(query.localversion ?? '');
  return {
    document: documentOf({ addresses, from: version?.text ?? null }),
    ...(version === null || version.meant.length < 2 ? {} : { versions: version.meant }),
    // When the text is not the version of a release, it may be any text of this client.
    isPersonal: version !== null && version.text !== squirrelTextOf(versionText(version.parsed)),
    query: {
      ...commonQuery({ ...request, query: { ...query, ...request.query } }, squirrelWindows),
      currentVersion: version?.parsed ?? null,
      platform: 'windows',
      arch: arch ?? archOfSystem(query.arch ?? ''),
      formats: squirrelWindows.formatsFor('windows'),
    },
  };
}

/** The parameters of a request, with their names in lower case: a client sends such names after a failure. */
export function lowerCaseNames(query: ProtocolRequest['query']): Record<string, string> {
  const entries = Object.entries(query).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const all = Object.fromEntries(entries);
  return { ...all, ...(all.stagingid === undefined ? {} : { stagingId: all.stagingid }) };
}

/** The version that a client states to have. */
interface LocalVersion {
  readonly parsed: Version;
  /** See `Question.versions`. */
  readonly meant: readonly Version[];
  /** The version as Squirrel writes it. */
  readonly text: string;
}

/** @throws AppError `invalid_version` */
export function parseLocalVersion(text: string): LocalVersion | null {
  if (text === '') return null;
  const meant = versionsWrittenAs(text);
  const parsed = meant[0] ?? parseClientVersion(text, '/localVersion');
  const isOwn = isSquirrelVersion(text) && parsed.build.length === 0;
  return { parsed, meant, text: isOwn ? text : squirrelTextOf(versionText(parsed)) };
}

function archOfSystem(word: string): UpdateQuery['arch'] {
  const arch = archOf(word);
  return arch === 'ia32' || arch === 'arm64' ? arch : null;
}

function warnOfName(filename: string, read: string | undefined): string | undefined {
  if (read !== undefined && /^\d+\.\d+\.\d+/.test(read)) return undefined;
  const what = read === undefined ? 'no version' : `the version ${read}`;
  return `Squirrel reads ${what} from the name ${filename}, so no client of squirrel-windows is offered it. Publish the package under the name that the build tool gave it, such as App-1.0.0-beta1-full.nupkg.`;
}

/** Lists `RELEASES` below each address that an application may have for its feed: see `describeSquirrelSetUp`. */
function listSquirrelAddresses(): readonly StaticAddress[] {
  return [['RELEASES'], ...['x64', 'ia32', 'arm64'].map((arch) => [arch, 'RELEASES'])].map(
    (path) => ({ path }),
  );
}
