import { AppError } from '../../core/errors.ts';
import { DELTA } from '../../domain/companion.ts';
import { macosVersionOfDarwin } from '../../domain/os-version.ts';
import {
  type Arch,
  type Format,
  type Platform,
  parseArch,
  parsePlatform,
} from '../../domain/platform.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { parseLooseVersion, versionText } from '../../domain/version.ts';
import {
  commonQuery,
  NO_CONTENT,
  type PollOffer,
  type PollProtocol,
  type ProtocolRequest,
  type ProtocolResponse,
  type Question,
} from '../protocol.ts';
import { describeSquirrelUpdate, squirrelJson } from '../squirrel-json.ts';
import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { SQUIRREL_MAC_ADDRESSES } from './squirrel-mac-addresses.ts';
import { describeSquirrelMacSetUp } from './squirrel-mac-set-up.ts';

/**
 * Squirrel.Mac, which is Electron's `autoUpdater` on macOS.
 *
 * - `{platform}/{arch}/{version}`: 204 for no update, else the JSON of the update. The client installs every update
 *   that it gets, so the answer to an unreadable version is an error, and never an update.
 * - `releases.json` (`serverType: 'json'`), also below `{platform}/{arch}/`: the newest release. The client compares
 *   the numbers of the versions, and installs no older version. The client states its version only when the address
 *   ends with `?current_version=`; without it, the client gets no release with `requires`. A document at an address
 *   without an architecture lists only universal builds, because Intel and Apple-silicon machines share that address.
 *
 * The version of the system is in the User-Agent that macOS sends: `… CFNetwork/1408.0.4 Darwin/22.5.0`.
 */
export const squirrelMac: PollProtocol = {
  shape: 'poll',
  name: 'squirrel-mac',
  title: 'Squirrel.Mac (Electron autoUpdater on macOS)',
  takesPost: false,
  addresses: SQUIRREL_MAC_ADDRESSES,
  varyHeaders: ['user-agent'],
  formatsFor: (platform) => (platform === 'macos' ? FORMATS : []),
  signatureScheme: null,
  osGate: 'server',
  parseRequest,
  listStatic: listSquirrelMacAddresses,
  describeSetUp: describeSquirrelMacSetUp,
  renderOffer,
  renderNoUpdate: (asked) =>
    asked.document === RELEASES ? renderCurrent(asked.query.currentVersion) : NO_CONTENT,
};

const FORMATS: readonly Format[] = ['zip'];

/** In lower case, because the service ignores case in this name: Electron Forge writes `RELEASES.json`. */
const RELEASES = 'releases.json';

function parseRequest(request: ProtocolRequest): Question | undefined {
  const { path, query } = request;
  const last = path.at(-1) ?? '';
  if (last.toLowerCase() === RELEASES) {
    if (path.length !== 1 && path.length !== 3) return undefined;
    const [platform = 'macos', arch = query.arch ?? 'universal'] = path.slice(0, -1);
    return {
      document: RELEASES,
      query: {
        ...queryOf(request, macosOf(platform), parseArch(arch), FORMATS),
        currentVersion: parseLooseVersion(query.current_version ?? '') ?? null,
      },
    };
  }
  const [platform, arch, version, ...rest] = path;
  if (platform === undefined || arch === undefined || version === undefined || rest.length > 0) {
    return undefined;
  }
  return askSquirrelUpdate(request, {
    platform: macosOf(platform),
    arch: parseArch(arch),
    version,
    formats: FORMATS,
  });
}

interface AskedMachine {
  readonly platform: Platform;
  readonly arch: Arch | null;
  /** The version as the client states it. */
  readonly version: string;
  readonly formats: readonly Format[];
}

/**
 * The question of a client that gets 204 or the JSON of an update. Older servers answer this question for all
 * platforms.
 *
 * @throws AppError `invalid_version`
 */
export function askSquirrelUpdate(
  request: ProtocolRequest,
  { platform, arch, version, formats }: AskedMachine,
): Question {
  const currentVersion = parseLooseVersion(version);
  if (currentVersion === undefined) throw invalidVersion(version);
  return {
    // A delta changes exactly one version. So the service offers no delta when it understood the client's text only
    // loosely.
    document: version === versionText(currentVersion) ? version : '',
    dependsOnVersion: true,
    query: { ...queryOf(request, platform, arch, formats), currentVersion },
  };
}

/** The error for a version of an installed application that the service cannot compare with other versions. */
function invalidVersion(text: string): AppError {
  const detail = `${JSON.stringify(text.slice(0, 80))} is not a version that can be compared; send it like 1.4.0.`;
  return new AppError('invalid_version', detail, { issues: [{ pointer: '/version', detail }] });
}

function macosOf(word: string): 'macos' {
  const platform = parsePlatform(word);
  if (platform === 'macos') return platform;
  const detail = `Squirrel.Mac is for macOS, not for ${platform}. Ask for darwin.`;
  throw new AppError('unknown_platform', detail, { issues: [{ pointer: '/platform', detail }] });
}

function queryOf(
  request: ProtocolRequest,
  platform: Platform,
  arch: Arch | null,
  formats: readonly Format[],
): Omit<UpdateQuery, 'currentVersion'> {
  const common = commonQuery(request, squirrelMac);
  const darwin = /\bDarwin\/(\d+(?:\.\d+)*)/.exec(request.headers['user-agent'] ?? '')?.[1];
  const system = platform === 'macos' && darwin !== undefined ? macosVersionOfDarwin(darwin) : null;
  return {
    ...common,
    platform,
    arch,
    formats,
    osVersion: common.osVersion ?? system ?? null,
  };
}

function renderOffer(offer: PollOffer): ProtocolResponse {
  const { artifact, document, release } = offer;
  if (document !== RELEASES) {
    const delta = artifact.companions.find(({ kind, base }) => kind === DELTA && base === document);
    return squirrelJson(describeSquirrelUpdate(offer, delta));
  }
  const { version } = release;
  const updateTo = { version, ...describeSquirrelUpdate(offer) };
  return squirrelJson({ currentRelease: version, releases: [{ version, updateTo }] });
}

/**
 * The document names the client's own version as the current version, so the client installs nothing. Undefined for a
 * client that states no version: then the service answers 404.
 */
function renderCurrent(version: UpdateQuery['currentVersion']): ProtocolResponse | undefined {
  if (version === null) return undefined;
  return squirrelJson({ currentRelease: versionText(version), releases: [] });
}

/** The words that Electron has for the architectures of Macs. */
const ARCHES = ['x64', 'arm64', 'universal'];

/**
 * Lists an address for each version and architecture, and the documents for `serverType: 'json'`. The address of the
 * newest version has no document, because the client would install the update in any document, whatever its version.
 * Without a document, the client reports an error.
 */
function listSquirrelMacAddresses({
  versions,
}: Pick<StaticChannel, 'versions'>): readonly StaticAddress[] {
  const below = ARCHES.map((arch) => ['darwin', arch]);
  return [
    { path: ['releases.json'] },
    ...below.flatMap((machine) => [
      { path: [...machine, 'releases.json'] },
      { path: [...machine, 'RELEASES.json'] },
      ...versions.map((version) => ({ path: [...machine, version] })),
    ]),
  ];
}
