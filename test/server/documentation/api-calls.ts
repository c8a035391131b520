import type { ReceivedAnswer } from './api-document.ts';
import { type ApiScene, VERSION } from './api-scene.ts';

/** A call of every operation of both documents, as clients make it, with the values of earlier answers. */

export interface ApiCall {
  readonly operation: string;
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text for a media type that is not JSON. */
  readonly body?: unknown;
  /** The access token of a user. */
  readonly token?: string;
  /** Default: `service`. */
  readonly to?: 'service' | 'mailing';
  /** The status that the call expects. */
  readonly status: number;
}

/** Makes a call, and fails when the answer has another status. */
export type Caller = (call: ApiCall) => Promise<ReceivedAnswer>;

const FEED = { app: 'desktop', channel: 'stable' };
const CLIENT = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };
const PASSWORD = 'correct horse battery staple';
const ADA = { email: 'ada@example.com', password: PASSWORD };
const GRACE = { email: 'grace@example.com', password: PASSWORD };
const UNKNOWN = { app: 'unheard-of', channel: 'stable' };

const json = ({ body }: ReceivedAnswer) => JSON.parse(body.toString());

export async function callEverything(call: Caller): Promise<void> {
  await callDesktop(call);
  await callFeeds(call);
  await callMetadata(call);
  await callPublic(call);
  await callAccounts(call);
}

/** The values of a link to a file, which a client follows as it is. */
function linkOf(text: string, prefix: RegExp) {
  const { pathname, searchParams } = new URL(text);
  const names = pathname.replace(prefix, '').split('/').map(decodeURIComponent);
  return { names, query: Object.fromEntries(searchParams) };
}

async function callDesktop(call: Caller): Promise<void> {
  await call({ operation: 'checkUpdate', body: CLIENT, status: 200 });
  await call({ operation: 'checkUpdate', body: { ...CLIENT, arch: 'z80' }, status: 400 });
  await call({ operation: 'getLatestVersion', status: 200 });
  const download = { operation: 'getDownload', path: { platform: 'windows' } };
  await call({ ...download, headers: { accept: 'application/json' }, status: 200 });
  const lasting = await call({ ...download, status: 302 });
  const { names } = linkOf(lasting.headers.location ?? '', /^\/files\/public\//);
  const [signature = '', , app = '', , object = '', filename = ''] = names;
  const path = { signature, app, object, filename };
  await call({ operation: 'getPublicFile', path, status: 200 });
  const range = { range: 'bytes=0-3' };
  await call({ operation: 'getPublicFile', path, headers: range, status: 206 });
  await call({ operation: 'getPublicFile', path: { ...path, signature: 'x' }, status: 403 });
  await callPresigned(call);
}

async function callPresigned(call: Caller): Promise<void> {
  const to = 'mailing';
  const operation = 'getDownload';
  const linked = await call({ operation, to, path: { platform: 'windows' }, status: 302 });
  const { names, query } = linkOf(linked.headers.location ?? '', /^\/files\/apps\//);
  const [app = '', , object = '', filename = ''] = names;
  const asked = { operation: 'getFile', to, path: { app, object, filename } } as const;
  await call({ ...asked, query, status: 200 });
  await call({ ...asked, query: { ...query, signature: 'x' }, status: 403 });
}

async function callFeeds(call: Caller): Promise<void> {
  const ask = (operation: string, path: Record<string, string> = {}, more: Partial<ApiCall> = {}) =>
    call({ operation, path: { ...FEED, ...path }, status: 200, ...more });
  await ask('getElectronUpdateInfo', { document: 'latest.yml' });
  await ask('getElectronUpdateInfo', { ...UNKNOWN, document: 'latest.yml' }, { status: 404 });
  const mac = { platform: 'darwin', arch: 'arm64' };
  await ask('getSquirrelMacUpdate', { ...mac, version: '1.0.0' });
  await ask('getSquirrelMacUpdate', { ...mac, version: VERSION }, { status: 204 });
  const current = { query: { current_version: '1.0.0', arch: 'x64' } };
  await ask('getSquirrelMacReleases', {}, current);
  await ask('getSquirrelMacReleasesFor', mac, current);
  await ask('getSquirrelReleases', {}, { query: { localVersion: '1.0.0' } });
  await ask('getSquirrelReleasesFor', { arch: 'x64' });
  await ask('getMsixUpdate', { version: '1.0.0' });
  await ask('getMsixUpdate', { version: VERSION }, { status: 204 });
  await ask('getTauriLatest');
  const tauri = { target: 'darwin', arch: 'aarch64', current_version: '1.0.0' };
  await ask('getTauriUpdate', tauri);
  await ask('getTauriUpdate', { ...tauri, current_version: VERSION }, { status: 204 });
  await ask('getTauriUpdateOfBundle', { ...tauri, bundle_type: 'app' });
  await ask('getVelopackReleases', { name: 'win-x64' });
  await ask('getVelopackMigration');
  await ask('getVelopackMigrationOf', { name: 'win-x64' });
  await ask('getSparkleAppcast');
  await ask('getWinSparkleAppcast');
  await ask('getNetSparkleAppcast');
  await ask('getNetSparkleSignature');
  await ask('getZsyncFile', { name: 'App-x86_64' });
  await ask('getZsyncFile', { ...UNKNOWN, name: 'App-x86_64' }, { status: 404 });
  await ask('getNewestAppImage', { name: 'App-x86_64' }, { status: 302 });
  await callOmaha(ask);
  const file = { protocol: 'electron', version: VERSION, filename: `App-Setup-${VERSION}.exe` };
  await ask('getReleaseFile', file, { status: 302 });
  await ask('getReleaseFile', file, { headers: { range: 'bytes=0-3,8-9' }, status: 206 });
  await ask('getReleaseFile', file, { headers: { range: 'bytes=99999-' }, status: 416 });
  const named = { protocol: 'squirrel-windows', filename: `App-${VERSION}-full.nupkg` };
  await ask('getNamedReleaseFile', named, { status: 302 });
}

async function callOmaha(
  ask: (
    operation: string,
    path: Record<string, string>,
    more: Partial<ApiCall>,
  ) => Promise<unknown>,
): Promise<void> {
  const xml =
    '<request protocol="3.0"><os platform="win" arch="x64"/><app appid="desktop" version="1.0.0"><updatecheck/></app></request>';
  const app = { appid: 'desktop', version: '1.0.0', updatecheck: {} };
  const request = { protocol: '3.1', os: { platform: 'win', arch: 'x64' }, app: [app] };
  for (const [type, body] of [
    ['text/xml', xml],
    ['application/json', JSON.stringify({ request })],
  ] as const) {
    await ask('checkWithOmaha', {}, { headers: { 'content-type': type }, body });
  }
}

/** Follows the metadata as a client of TUF does: timestamp, root, snapshot, targets, the list of the channel. */
async function callMetadata(call: Caller): Promise<void> {
  const app = 'desktop';
  const ask = (operation: string, path: Record<string, string | number> = {}, status = 200) =>
    call({ operation, path: { app, ...path }, status });
  const timestamp = json(await ask('getTimestamp'));
  await call({ operation: 'getTimestamp', path: { app: UNKNOWN.app }, status: 404 });
  await ask('getRoot', { version: 1 });
  const { version } = timestamp.signed.meta['snapshot.json'];
  const { meta } = json(await ask('getSnapshot', { version })).signed;
  await ask('getTargets', { version: meta['targets.json'].version });
  const role = meta['channel-stable.json'].version;
  const list = json(await ask('getChannelTargets', { version: role, channel: 'stable' }));
  const [[name = '', entry]] = Object.entries<{ readonly hashes: { readonly sha256: string } }>(
    list.signed.targets,
  ) as [[string, { readonly hashes: { readonly sha256: string } }]];
  const number = Number(/(\d+)\.json$/.exec(name)?.[1]);
  const target = { target_app: app, channel: 'stable', version: VERSION };
  const sha256 = entry.hashes.sha256;
  const manifest = json(await ask('getSignedManifest', { ...target, sha256, number }));
  const [file] = manifest.signed.artifacts;
  const { filename } = file;
  await ask('getSignedFile', { ...target, sha256: file.sha256, filename }, 302);
}

async function callPublic(call: Caller): Promise<void> {
  const message = { name: 'Ada', email: ADA.email, subject: 'Hi', message: 'Hello' };
  await call({
    operation: 'sendMessage',
    body: { ...message, captcha_token: 'good' },
    headers: { 'idempotency-key': 'a-random-text' },
    status: 202,
  });
  for (const operation of [
    'getStatus',
    'getLiveMetrics',
    'getSeenRequest',
    'getHealth',
    'getOverview',
  ]) {
    await call({ operation, status: 200 });
  }
}

async function callAccounts(call: Caller): Promise<void> {
  const register = (user: object) =>
    call({ operation: 'register', body: { ...user, captcha_token: 'good' }, status: 202 });
  const signIn = async (user: object, id: string) => {
    const body = { ...user, platform: 'linux', device: { id, name: "Ada's laptop" } };
    return json(await call({ operation: 'signIn', body, status: 200 }));
  };
  await register({ ...ADA, name: 'Ada' });
  await signIn(ADA, 'device-1');
  const { refresh_token } = await signIn(ADA, 'device-2');
  const refresh = { refresh_token, platform: 'linux', device: { id: 'device-2' } };
  const session = json(await call({ operation: 'refreshSession', body: refresh, status: 200 }));
  const body = { email: ADA.email };
  await call({ operation: 'resendVerification', to: 'mailing', body, status: 202 });
  await call({ operation: 'requestPasswordReset', to: 'mailing', body, status: 202 });
  await callSignedIn(call, session.access_token);
  const local = { operation: 'signOut', body: { scope: 'local' } };
  await call({ ...local, token: (await signIn(ADA, 'device-3')).access_token, status: 204 });
  await call({ ...local, body: { scope: 'everywhere' }, status: 400 });
  await register(GRACE);
  const { access_token: token } = await signIn(GRACE, 'device-1');
  const erase = { operation: 'deleteAccount', body: { password: PASSWORD } };
  await call({ ...erase, status: 401 });
  await call({ ...erase, token, status: 204 });
}

async function callSignedIn(call: Caller, token: string): Promise<void> {
  const ask = (operation: string, more: Partial<ApiCall> = {}) =>
    call({ operation, token, status: 200, ...more });
  const askAsVisitor = (operation: string, more: Partial<ApiCall> = {}) =>
    call({ operation, status: 401, ...more });
  await ask('getAccount');
  await ask('changeAccount', { body: { name: 'Ada Lovelace' } });
  const { sessions } = json(await ask('listSessions'));
  const other = sessions.find(({ current }: { readonly current: boolean }) => !current);
  await askAsVisitor('endSession', { path: { session: other.id } });
  await ask('endSession', { path: { session: other.id }, status: 204 });
  const scopes = [{ application: 'desktop', access: 'read' }];
  const key = json(await ask('createDeveloperKey', { body: { name: 'CI', scopes }, status: 201 }));
  await ask('listDeveloperKeys');
  await askAsVisitor('revokeDeveloperKey', { path: { key: key.id } });
  await ask('revokeDeveloperKey', { path: { key: key.id }, status: 204 });
  await ask('getReleaseAnalytics');
  await ask('explainUpdate', { query: { version: '1.0.0', platform: 'windows', arch: 'x64' } });
  await ask('getBilling');
  await ask('openBillingPortal', { status: 201 });
  const passwords = { password: PASSWORD, new_password: PASSWORD };
  await askAsVisitor('changePassword', { body: passwords });
  await ask('changePassword', { body: passwords, status: 204 });
  await askAsVisitor('endAllSessions');
  await ask('endAllSessions', { status: 204 });
}

/** Both documents, as a visitor and a user get them. */
export async function readDocuments({ service }: Pick<ApiScene, 'service'>) {
  const { http } = service.app;
  const post = async (url: string, payload: object) =>
    http.inject({ method: 'POST', url, payload });
  const user = { email: 'reader@example.com', password: PASSWORD };
  await post('/api/v1/auth/register', { ...user, captcha_token: 'good' });
  const device = { id: 'reader', name: 'A reader' };
  const signedIn = await post('/api/v1/auth/login', { ...user, platform: 'linux', device });
  const headers = { authorization: `Bearer ${signedIn.json().access_token}` };
  const open = await http.inject({ url: '/openapi.json' });
  const account = await http.inject({ url: '/api/v1/openapi.json', headers });
  return [open.json(), account.json()] as const;
}
