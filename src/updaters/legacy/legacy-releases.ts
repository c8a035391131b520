import type { Arch } from '../../domain/platform.ts';
import type { Protocol, ProtocolRequest } from '../protocol.ts';
import { SQUIRREL_ABSOLUTE } from '../squirrel-windows/squirrel-releases.ts';
import { parseReleases, squirrelWindows } from '../squirrel-windows/squirrel-windows.ts';
import type { LegacyRequest } from './legacy-address.ts';

interface AskedReleases extends Pick<ProtocolRequest, 'application' | 'channel' | 'query'> {
  /** Null when the address does not state it: then the client may state it in the query. */
  readonly arch: Arch | null;
  /** Of the client, as the address states it. */
  readonly version: string;
  /** `RELEASES`, or the name of a package below the same address. */
  readonly document: string;
}

const RELEASES = 'RELEASES';

/** Squirrel.Windows below the address of another server: `RELEASES` with the addresses of its packages, or a package. */
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
