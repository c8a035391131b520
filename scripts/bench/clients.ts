import { versionAt } from './content.ts';
import type { Request } from './load.ts';

/** Requests with the addresses and headers that real clients send. */

/** The releases of an application: enough for clients with many versions. */
export const RELEASES = 100;
export const APPLICATION = 'desktop';
/** An application with packages of Squirrel and Velopack. */
export const PACKAGED = 'packaged';
export const NEWEST = versionAt(RELEASES - 1);
export const OLDER = versionAt(RELEASES - 2);

const FEEDS = `/feeds/${APPLICATION}/stable`;
const CHROMIUM = {
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9',
};
const CFNETWORK = { 'accept-encoding': 'gzip, deflate, br', 'accept-language': 'en-GB,en;q=0.9' };

export function get(
  path: string,
  contains: string,
  headers: Request['headers'] = {},
  status = 200,
): Request {
  return { method: 'GET', path, contains, status, headers };
}

/** Checks of clients with these versions, on three platforms. Each is from a new installation. */
export function checks(versions: readonly string[], contains: string): readonly Request[] {
  const clients = [
    { platform: 'win32', arch: 'x64', format: 'nsis', os_version: '10.0.19045' },
    { platform: 'darwin', arch: 'arm64', format: 'zip', os_version: '15.1' },
    { platform: 'linux', arch: 'x64', format: 'appimage', os_version: '6.8.0' },
  ];
  const rest = { channel: 'stable', app: APPLICATION, installation_id: '{id}', locale: 'en-GB' };
  const path = '/api/v1/desktop/check-update';
  return versions.flatMap((version) =>
    clients.map((client): Request => {
      const body = { current_version: version, ...client, ...rest };
      return { method: 'POST', path, body, status: 200, contains };
    }),
  );
}

/** A website that shows the newest version. */
export const latestVersion = get(
  '/api/v1/desktop/latest-version?platform=windows&arch=x64&noCache={noCache}',
  NEWEST,
  CHROMIUM,
);

const BROWSER = {
  ...CHROMIUM,
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0',
  'sec-ch-ua-platform': '"Windows"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-arch': '"x86"',
  'sec-ch-ua-bitness': '"64"',
};
export const page = get(`/apps/${APPLICATION}`, NEWEST, BROWSER);
/** A visitor of a website clicks on "Download". */
export const redirect = get('/api/v1/desktop/download/windows', 'ocation: http', BROWSER, 302);

/** Every check of electron-updater has a new `noCache`, and the id of the installation. */
export const electronUpdater = get(`${FEEDS}/electron/latest.yml?noCache={noCache}`, NEWEST, {
  ...CHROMIUM,
  'user-agent': 'electron-builder',
  'cache-control': 'no-cache',
  'x-user-staging-id': '{id}',
});

export const sparkle = get(`${FEEDS}/sparkle/appcast.xml`, '<rss', {
  ...CFNETWORK,
  accept: 'application/rss+xml,*/*;q=0.1',
  'user-agent': 'Acme Studio/1.0 Sparkle/2.6.4',
});

export function squirrelMac(version: string): Request {
  const path = `${FEEDS}/squirrel-mac/darwin/arm64/${version}`;
  const headers = {
    ...CFNETWORK,
    accept: 'application/json',
    'user-agent': 'Acme%20Studio/1.0 CFNetwork/1568.200.51 Darwin/24.1.0',
  };
  return version === NEWEST ? get(path, '', headers, 204) : get(path, NEWEST, headers);
}

export function squirrelWindows(version: string): Request {
  const path = `/feeds/${PACKAGED}/stable/squirrel-windows/RELEASES`;
  const query = `id=Acme&localVersion=${version}&arch=amd64`;
  return get(`${path}?${query}`, '.nupkg', { 'user-agent': 'Squirrel/2.0.1.0' });
}

/** The query has an id of the installation. */
export const velopack = get(
  `/feeds/${PACKAGED}/stable/velopack/releases.linux.json?localVersion=${OLDER}&id=Acme&stagingId={id}`,
  '"Assets"',
  { accept: '*/*' },
);
