import { parseUpdateInfoName, UPDATE_INFO_FORMATS } from '../../domain/carried-document.ts';
import { type Arch, archOf, type Platform, parseArch } from '../../domain/platform.ts';
import { parseLooseVersion } from '../../domain/version.ts';
import {
  commonQuery,
  type FeedProtocol,
  type ProtocolRequest,
  type Question,
} from '../protocol.ts';
import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { ELECTRON_ADDRESSES } from './electron-addresses.ts';
import {
  ELECTRON_ABSOLUTE,
  ELECTRON_RELATIVE,
  renderElectronFeed,
  renderElectronNoUpdate,
  renderSignedElectronFeed,
} from './electron-feed.ts';
import { warnOfElectronName } from './electron-info.ts';
import { describeElectronSetUp, LINUX_SUFFIXES } from './electron-set-up.ts';

/**
 * electron-updater, provider `generic`.
 *
 * `GET {base}/{channel}{suffix}.yml`; the suffix is empty on Windows, `-mac` on macOS, `-linux` on Linux x64, and
 * `-linux-{arch}` on any other Linux. `latest` is the channel of the feed's own address; any other name is a channel of
 * the same application. The files of a channel are at `{base}/{version}/{filename}` below the feed of that channel.
 *
 * When a release has only a web installer, the document also lists its `packages`. The client downloads a package and
 * passes it to the installer. An ordinary installer takes precedence, because an application can disable web
 * installers.
 *
 * The client does not state its version. When releases have a `requires` range, the application sends its version as
 * `x-current-version` (electron-updater's `requestHeaders`). Without this header, the client gets only releases that
 * require nothing. An installed application cannot be corrected, so any text in that header gets an answer.
 */
export const electron: FeedProtocol = {
  shape: 'feed',
  name: 'electron',
  title: 'electron-updater (generic provider)',
  takesPost: false,
  addresses: ELECTRON_ADDRESSES,
  varyHeaders: ['x-current-version'],
  ignoresPersonal: true,
  olderReleasesMax: 0,
  formatsFor: (platform) => UPDATE_INFO_FORMATS[platform],
  signatureScheme: null,
  osGate: 'client',
  // On Linux, the name of the document states the architecture.
  mayOmit: (platform) => (platform === 'linux' ? ['version'] : ['version', 'arch']),
  parseRequest,
  describeSetUp: describeElectronSetUp,
  listStatic: listElectronAddresses,
  renderListing: renderElectronFeed,
  renderSigned: renderSignedElectronFeed,
  renderNoUpdate: renderElectronNoUpdate,
  warnOf: warnOfElectronName,
};

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [file, ...rest] = request.path;
  const named = parseUpdateInfoName(file ?? '');
  if (named === undefined || rest.length > 0) return undefined;
  const { query, headers } = request;
  const { platform, suffix } = named;
  const current = query.current_version ?? headers['x-current-version'];
  const channel = named.channel === 'latest' ? request.channel : named.channel;
  return {
    document: channel === request.channel ? ELECTRON_RELATIVE : ELECTRON_ABSOLUTE,
    query: {
      ...commonQuery(request, electron),
      channel,
      currentVersion: current === undefined ? null : (parseLooseVersion(current) ?? null),
      platform,
      arch: archFrom(platform, suffix, query.arch),
      formats: electron.formatsFor(platform),
    },
  };
}

/**
 * A variable that electron-builder replaces in most configurations. The address is in `app-update.yml`. When
 * electron-builder did not write this file, the variable stays in the address. An installed application cannot be
 * corrected, so the variable counts
 * as no architecture.
 */
const UNEXPANDED = `\${arch}`;

function archFrom(
  platform: Platform,
  suffix: string | undefined,
  query: string | undefined,
): Arch | null {
  if (query !== undefined && query !== '' && query !== UNEXPANDED) {
    const arch = parseArch(query);
    // Universal is a kind of build, not the architecture of a machine.
    return arch === 'universal' ? null : arch;
  }
  if (platform !== 'linux') return null;
  return suffix === undefined ? 'x64' : (archOf(suffix) ?? parseArch(suffix));
}

const SUFFIXES = ['', '-mac', ...LINUX_SUFFIXES.map(([, suffix]) => `-linux${suffix}`)];

/**
 * Lists `latest.yml` and the like, and the same documents of every channel: an application may ask for another channel
 * at the same feed.
 */
function listElectronAddresses({
  channels,
}: Pick<StaticChannel, 'channels'>): readonly StaticAddress[] {
  return ['latest', ...channels].flatMap((name) =>
    SUFFIXES.map((suffix) => ({ path: [`${name}${suffix}.yml`] })),
  );
}
