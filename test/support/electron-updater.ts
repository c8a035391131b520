import { EventEmitter } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import Module, { createRequire } from 'node:module';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { makeTemporaryDirectory } from './release.ts';

/**
 * Runs the real electron-updater from node_modules on a simulated machine. Only the `electron` module is
 * replaced: its network is Node's, and its Squirrel.Mac downloads from the address that the updater sets.
 */

/** The part of electron-updater's `AppUpdater` that these tests use. Its own types need Electron's types. */
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
  /** The installed version. */
  readonly version: string;
  /** The provider's `url`. */
  readonly url: string;
  /** Further settings in app-update.yml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The value of `process.arch`; default `x64`. */
  readonly arch?: string;
  /** The result of `os.release()`; default `99.0.0`. */
  readonly osRelease?: string;
  readonly configure?: (updater: Updater) => void;
}

export interface ElectronClient {
  readonly updater: Updater;
  /** The client's requests, in order. */
  readonly requests: readonly ClientRequest[];
  /** The version that the client would update to; null when it finds no update. */
  check(): Promise<string | null>;
  /** Downloads the file that the client would start; the updater itself verifies its hash. */
  download(): Promise<{ readonly name: string; readonly bytes: Buffer }>;
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

/** Creates a client for the running test, and closes it afterwards. */
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
  // The session identifies the client that a request belongs to.
  const requests: ClientRequest[] = [];
  updater.httpExecutor.cachedSession = requests;
  updater.createProviderRuntimeOptions = () => ({
    isUseMultipleRangeRequest: true,
    platform: KINDS[kind].platform,
    executor: updater.httpExecutor,
  });
  configure?.(updater);
  const simulate = <T>(run: () => Promise<T>) => onMachine(options, home.path, run);
  onTestFinished(async () => {
    updater.server?.close();
    await home.remove();
  });
  return {
    updater,
    requests,
    check: async () => {
      const result = await simulate(() => updater.checkForUpdates());
      if (result === null) throw new Error('The updater did not check for updates.');
      return result.isUpdateAvailable ? result.updateInfo.version : null;
    },
    download: async () => {
      const [file = ''] = await simulate(() => updater.downloadUpdate());
      // On macOS the updater passes the file to Squirrel.Mac and returns no name.
      if (kind === 'mac') return { name: '', bytes: squirrel.received };
      return { name: path.basename(file), bytes: await readFile(file) };
    },
  };
}

/** Replaces the globals that describe the machine while `run` runs. Only one client may run at a time. */
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
  // Hides `uname` and `sysctl`, so that MacUpdater uses process.arch.
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
  // Not spread: that would call its `autoUpdater` getter, which makes an updater for this machine.
  const { NsisUpdater, MacUpdater, AppImageUpdater, DebUpdater } = require('electron-updater');
  const { ElectronHttpExecutor } = require('electron-updater/out/electronHttpExecutor');
  return { NsisUpdater, MacUpdater, AppImageUpdater, DebUpdater, ElectronHttpExecutor };
}

interface RequestOptions extends http.RequestOptions {
  readonly session: ClientRequest[];
  readonly redirect?: 'manual';
}

/** Electron's `net.request`. Emits `redirect` for a redirect and does not follow it. */
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
    if (redirect !== 'manual') throw new Error(`The service redirected a document: ${url}`);
    facade.emit('redirect', status, 'GET', new URL(location, url).href, response.headers);
  });
  return Object.assign(facade, {
    end: (body?: Buffer) => void request.end(body),
    abort: () => void request.destroy(),
    setHeader: (name: string, value: string) => void request.setHeader(name, value),
  });
}

/** Electron's `autoUpdater` on macOS: downloads from the address that MacUpdater sets. */
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

/** MacUpdater's constructor reads this as Electron's `autoUpdater`. */
let nativeUpdater = new Squirrel();
