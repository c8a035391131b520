import { AppError } from '../../core/errors.ts';
import type { Arch, Format, Platform } from '../../domain/platform.ts';
import { electron } from '../electron/electron.ts';
import { ELECTRON_ABSOLUTE } from '../electron/electron-feed.ts';
import type { PollProtocol, Protocol, ProtocolRequest } from '../protocol.ts';
import { askSquirrelUpdate, squirrelMac } from '../squirrel-mac/squirrel-mac.ts';
import { SQUIRREL_ABSOLUTE } from '../squirrel-windows/squirrel-releases.ts';
import { parseReleases, squirrelWindows } from '../squirrel-windows/squirrel-windows.ts';
import { type LegacyRequest, parseLegacyMachine } from './legacy-address.ts';

/** The dialects as other update servers speak them: with absolute addresses, and JSON for every platform. */

/**
 * The formats for clients that ask for JSON: Squirrel.Mac installs a zip; on other systems, the application decides
 * what it does with the file.
 */
const JSON_FORMATS: Readonly<Record<Platform, readonly Format[]>> = {
  macos: ['zip'],
  windows: ['nsis', 'squirrel-setup', 'velopack-setup', 'msi', 'nsis-web'],
  linux: ['appimage', 'deb', 'rpm', 'tar.gz'],
};

/** `{machine}/{version}`: Squirrel.Mac's JSON, or 204. */
export const legacyJson: PollProtocol = {
  ...squirrelMac,
  formatsFor: (platform) => JSON_FORMATS[platform],
  parseRequest: (request) => {
    const [word = '', version, ...rest] = request.path;
    const machine = parseLegacyMachine(word);
    if (machine === undefined || version === undefined || rest.length > 0) return undefined;
    const { platform, arch, formats } = machine;
    return askSquirrelUpdate(request, {
      platform,
      arch,
      version,
      formats: formats ?? JSON_FORMATS[platform],
    });
  },
};

/**
 * `latest.yml` and the like. The addresses in these documents are absolute, because clients would resolve relative
 * addresses below the address of the other server.
 */
export const legacyElectron: Protocol = {
  ...electron,
  parseRequest: (request) => {
    const question = electron.parseRequest(request);
    return question && { ...question, document: ELECTRON_ABSOLUTE };
  },
};

/** The error for a word that names no machine. */
export function unknownMachine(word: string): AppError {
  const detail = `${JSON.stringify(word.slice(0, 64))} is not a known platform; use darwin, win32 or linux, with or without an architecture.`;
  return new AppError('unknown_platform', detail, { issues: [{ pointer: '/platform', detail }] });
}

interface AskedReleases extends Pick<ProtocolRequest, 'application' | 'channel' | 'query'> {
  /** Null when the address states no architecture: then the client may state one in the query. */
  readonly arch: Arch | null;
  /** The version of the client, as the address states it. */
  readonly version: string;
  /** `RELEASES`, or the name of a package below the same address. */
  readonly document: string;
}

const RELEASES = 'RELEASES';

/**
 * The question of Squirrel.Windows below the address of another server. The client asks for `RELEASES`, which lists the
 * addresses of packages, or for a package.
 */
export function askLegacyReleases({
  application,
  channel,
  query,
  arch,
  version,
  document,
}: AskedReleases): LegacyRequest | undefined {
  const asked = { application, channel, query: { localVersion: version, ...query } };
  // The client asks again in lower case after a failure.
  if (document.toUpperCase() === RELEASES) {
    const request = { ...asked, path: arch === null ? [RELEASES] : [arch, RELEASES] };
    return { kind: 'update', protocol: legacySquirrel, request };
  }
  if (!/\.nupkg$/i.test(document)) return undefined;
  return { kind: 'update', protocol: legacySquirrel, request: { ...asked, path: [document] } };
}

const legacySquirrel: Protocol = {
  ...squirrelWindows,
  parseRequest: (request) => {
    const [first, second] = request.path;
    if ((second ?? first) !== RELEASES) return undefined;
    const arch = ARCHES.find((each) => each === first);
    return parseReleases(request, SQUIRREL_ABSOLUTE, arch);
  },
};

const ARCHES: readonly Arch[] = ['x64', 'arm64', 'ia32'];
