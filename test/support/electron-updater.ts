import { EventEmitter } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import Module, { createRequire } from 'node:module';
import path from 'node:path';
import { stringify } from 'yaml';
import { makeTemporaryDirectory } from './release.ts';

/**
 * The real electron-updater, from node_modules, on a pretended machine. Only the `electron` module is a
 * stand-in: its network is Node's, and its Squirrel.Mac fetches what the updater hands it.
 */

/** What these tests use of electron-updater's `AppUpdater`; its own types want Electron's. */
export interface Updater {
  logger: object | null;
  autoDownload: boolean;
  channel: string | null;
  allowDowngrade: boolean;
  requestHeaders: Record<string, string> | null;
  httpExecutor: { cachedSession: object };
  createProviderRuntimeOptions(): object;
  checkForUpdates(): Promise<{ isUpdateAvailable: boolean; updateInfo: UpdateInfo } | null>;
  downloadUpdate(): Promise<string[]>;
  server?: http.Server;
}

export interface UpdateInfo {
  readonly version: string;
  readonly files: readonly { readonly url: string; readonly sha512: string }[];
  readonly minimumSystemVersion?: string;
}

export interface ElectronClientOptions {
  readonly kind: keyof typeof KINDS;
  /** The version that is installed. */
  readonly version: string;
  /** The provider's `url`. */
  readonly url: string;
  /** More of app-update.yml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** As `process.arch` and `os.release()` would say. */
  readonly arch?: string;
  readonly osRelease?: string;
  readonly configure?: (updater: Updater) => void;
}

export interface ElectronClient {
  readonly updater: Updater;
  /** Every request it made, in order. */
  readonly requests: readonly ClientRequest[];
  /** The version that the client would update to; null when it is content. */
  check(): Promise<string | null>;
  /** What the client would start, after its own check of the hash. */
  download(): Promise<{ readonly name: string; readonly bytes: Buffer }>;
  close(): Promise<void>;
}

export interface ClientRequest {
  readonly url: string;
  readonly status: number;
  readonly hasToken: boolean;
}

const KINDS = {
  nsis: { type: 'NsisUpdater', platform: 'win32' },
  mac: { type: 'MacUpdater', platform: 'darwin' },
  appimage: { type: 'AppImageUpdater', platform: 'linux' },
  deb: { type: 'DebUpdater', platform: 'linux' },
} as const;

const require = createRequire(import.meta.url);
const updaters = loadUpdaters();

export async function createElectronClient(
  options: ElectronClientOptions,
): Promise<ElectronClient> {
  const { kind, version, url, config, configure } = options;
  const home = await makeTemporaryDirectory();
  const configFile = path.join(home.path, 'app-update.yml');
  const document = { provider: 'generic', url, updaterCacheDirName: 'app-updater', ...config };
  await writeFile(configFile, stringify(document));
  await writeFile(path.join(home.path, 'App.AppImage'), 'the old program');
  await mkdir(path.join(home.path, 'bin'));
  const squirrel = new Squirrel();
  nativeUpdater = squirrel;
  const updater = new updaters[KINDS[kind].type](null, {
    version,
    name: 'App',
    isPackaged: true,
    appUpdateConfigPath: configFile,
    userDataPath: path.join(home.path, 'user'),
    baseCachePath: path.join(home.path, 'cache'),
    whenReady: async () => {},
    relaunch: () => {},
    quit: () => {},
    onQuit: () => {},
  });
  updater.logger = null;
  updater.autoDownload = false;
  updater.httpExecutor = new updaters.ElectronHttpExecutor();
  // By its session a request is known to be this client's.
  const requests: ClientRequest[] = [];
  updater.httpExecutor.cachedSession = requests;
  updater.createProviderRuntimeOptions = () => ({
    isUseMultipleRangeRequest: true,
    platform: KINDS[kind].platform,
    executor: updater.httpExecutor,
  });
  configure?.(updater);
  const pretend = <T>(run: () => Promise<T>) => onMachine(options, home.path, run);
  return {
    updater,
    requests,
    check: async () => {
      const result = await pretend(() => updater.checkForUpdates());
      if (result === null) throw new Error('The updater did not even look.');
      return result.isUpdateAvailable ? result.updateInfo.version : null;
    },
    download: async () => {
      const [file = ''] = await pretend(() => updater.downloadUpdate());
      // On macOS the updater passes the file on, and names none.
      if (kind === 'mac') return { name: '', bytes: squirrel.received };
      return { name: path.basename(file), bytes: await readFile(file) };
    },
    close: async () => {
      updater.server?.close();
      await home.remove();
    },
  };
}

/** What the updater asks the machine, it asks globals: they lie while it runs, one client at a time. */
async function onMachine<T>(
  options: ElectronClientOptions,
  home: string,
  run: () => Promise<T>,
): Promise<T> {
  const os = require('node:os') as { release: () => string };
  const { release } = os;
  const { arch } = process;
  const { PATH, APPIMAGE } = process.env;
  os.release = () => options.osRelease ?? '99.0.0';
  Object.defineProperty(process, 'arch', { value: options.arch ?? 'x64' });
  process.env.APPIMAGE = path.join(home, 'App.AppImage');
  // Without `uname` and `sysctl` of this machine, MacUpdater believes process.arch.
  process.env.PATH = path.join(home, 'bin');
  try {
    return await run();
  } finally {
    os.release = release;
    Object.defineProperty(process, 'arch', { value: arch });
    process.env.PATH = PATH;
    if (APPIMAGE === undefined) delete process.env.APPIMAGE;
    else process.env.APPIMAGE = APPIMAGE;
  }
}

type UpdaterClass = new (options: null, app: object) => Updater;
type UpdaterName = (typeof KINDS)[keyof typeof KINDS]['type'];

function loadUpdaters(): Record<UpdaterName, UpdaterClass> & {
  ElectronHttpExecutor: new () => Updater['httpExecutor'];
} {
  const internals = Module as unknown as {
    _resolveFilename(name: string, ...rest: unknown[]): string;
  };
  const resolve = internals._resolveFilename;
  internals._resolveFilename = (name, ...rest) =>
    name === 'electron' ? 'electron-stand-in' : resolve(name, ...rest);
  const standIn = { net: { request: sendRequest }, session: { fromPartition: () => ({}) } };
  Object.defineProperty(standIn, 'autoUpdater', { get: () => nativeUpdater });
  require.cache['electron-stand-in'] = { exports: standIn, loaded: true } as NodeJS.Module;
  // Not spread: its `autoUpdater` is a getter that makes one for this machine.
  const { NsisUpdater, MacUpdater, AppImageUpdater, DebUpdater } = require('electron-updater');
  const { ElectronHttpExecutor } = require('electron-updater/out/electronHttpExecutor');
  return { NsisUpdater, MacUpdater, AppImageUpdater, DebUpdater, ElectronHttpExecutor };
}

interface RequestOptions extends http.RequestOptions {
  readonly session: ClientRequest[];
  readonly redirect?: 'manual';
}

/** Electron's `net.request`: a redirect is an event, and is not followed when the caller says so. */
function sendRequest({ session, redirect, ...options }: RequestOptions): EventEmitter {
  const request = http.request({ ...options, agent: false });
  const url = `${options.protocol}//${options.hostname}:${options.port}${options.path}`;
  const facade = new EventEmitter();
  request.on('error', (error) => facade.emit('error', error));
  request.on('response', (response) => {
    const status = response.statusCode ?? 0;
    session.push({ url, status, hasToken: request.hasHeader('authorization') });
    const { location } = response.headers;
    if (location === undefined) return void facade.emit('response', response);
    response.resume();
    if (redirect !== 'manual') throw new Error(`A document was redirected: ${url}`);
    facade.emit('redirect', status, 'GET', new URL(location, url).href, response.headers);
  });
  return Object.assign(facade, {
    end: (body?: Buffer) => void request.end(body),
    abort: () => void request.destroy(),
    setHeader: (name: string, value: string) => void request.setHeader(name, value),
  });
}

/** Electron's `autoUpdater` on macOS: fetches from the address that MacUpdater gives it. */
class Squirrel extends EventEmitter {
  received = Buffer.alloc(0);
  #feed: { url: string; headers: Record<string, string> } | undefined;

  setFeedURL(feed: { url: string; headers: Record<string, string> }): void {
    this.#feed = feed;
  }

  async checkForUpdates(): Promise<void> {
    const { url = '', headers = {} } = this.#feed ?? {};
    const { url: file } = (await (await fetch(url, { headers })).json()) as { url: string };
    this.received = Buffer.from(await (await fetch(file)).arrayBuffer());
    this.emit('update-downloaded');
  }
}

/** MacUpdater takes Electron's when it is constructed. */
let nativeUpdater = new Squirrel();
