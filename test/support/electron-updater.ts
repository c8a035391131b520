import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import Module, { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import {
  type ClientRequest,
  closeConnections,
  type NetworkSession,
  Squirrel,
  sendRequest,
} from './electron-network.ts';
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
  setFeedURL(feed: { readonly provider: 'custom'; readonly updateProvider: unknown }): void;
  httpExecutor: { cachedSession: object };
  createProviderRuntimeOptions(): object;
  on(event: 'error', listener: (error: Error) => void): void;
  checkForUpdates(): Promise<CheckResult | null>;
  downloadUpdate(): Promise<string[]>;
  server?: http.Server;
}

interface CheckResult {
  readonly isUpdateAvailable?: boolean;
  readonly cancellationToken?: object;
  readonly updateInfo: UpdateInfo;
}

interface UpdateInfo {
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
  /** Default `current`. */
  readonly client?: ClientRelease;
  /** The file of the installed version that a differential download copies from. Default: none, or other bytes. */
  readonly installed?: Buffer;
  /** For a web installer: the package of the installed version. */
  readonly installedPackage?: Buffer;
  /** PEM of a certificate authority that the machine trusts. */
  readonly authority?: string;
}

export interface ElectronClient {
  readonly updater: Updater;
  /** The client's requests, in order. */
  readonly requests: readonly ClientRequest[];
  /** What the updater logged: it says there why a download is not differential. */
  readonly log: readonly string[];
  /** The version that the client would update to; null when it finds no update. */
  check(): Promise<string | null>;
  /** Downloads the file that the client would start; the updater itself verifies its hash. */
  download(): Promise<Downloaded>;
}

const KINDS = {
  nsis: { type: 'NsisUpdater', platform: 'win32' },
  mac: { type: 'MacUpdater', platform: 'darwin' },
  appimage: { type: 'AppImageUpdater', platform: 'linux' },
  deb: { type: 'DebUpdater', platform: 'linux' },
  rpm: { type: 'RpmUpdater', platform: 'linux' },
  pacman: { type: 'PacmanUpdater', platform: 'linux' },
} as const;

/** The releases of electron-updater that the tests run, by the name of their package in node_modules. */
const CLIENTS = {
  // Another release can be tested without a change: the folder of its package.
  current: process.env.TEST_ELECTRON_UPDATER ?? 'electron-updater',
  previous: 'electron-updater-previous',
  next: 'electron-updater-next',
} as const;
type ClientRelease = keyof typeof CLIENTS;

export interface Downloaded {
  readonly name: string;
  readonly bytes: Buffer;
  /** The package of a web installer; null for other files. */
  readonly package: Buffer | null;
}

const require = createRequire(import.meta.url);
replaceElectron();

/** Creates a client for the running test, and closes it afterwards. */
export async function createElectronClient(
  options: ElectronClientOptions,
): Promise<ElectronClient> {
  const { kind, version, client = 'current', configure, authority } = options;
  const home = await installOn(options);
  const squirrel = new Squirrel();
  nativeUpdater = squirrel;
  const updater = new (updaterOf(client, kind))(null, {
    version,
    name: 'App',
    isPackaged: true,
    appUpdateConfigPath: path.join(home.path, 'app-update.yml'),
    userDataPath: path.join(home.path, 'user'),
    baseCachePath: path.join(home.path, 'cache'),
    whenReady: async () => {},
    relaunch: () => {},
    quit: () => {},
    onQuit: () => {},
  });
  const log: string[] = [];
  const write = (line: unknown): void => void log.push(String(line));
  updater.logger = { info: write, warn: write, error: write };
  updater.autoDownload = false;
  // Without a listener, Node throws the errors that the caller gets as rejected promises.
  updater.on('error', () => {});
  updater.httpExecutor = createExecutor(client);
  const session: NetworkSession = { requests: [], open: new Set(), authority };
  updater.httpExecutor.cachedSession = session;
  updater.createProviderRuntimeOptions = () => ({
    isUseMultipleRangeRequest: true,
    platform: KINDS[kind].platform,
    executor: updater.httpExecutor,
  });
  configure?.(updater);
  const simulate = <T>(run: () => Promise<T>) =>
    onMachine(options, home.path, run).finally(() => closeConnections(session));
  onTestFinished(async () => {
    updater.server?.close();
    await home.remove();
  });
  return {
    updater,
    requests: session.requests,
    log,
    check: async () => {
      const result = await simulate(() => updater.checkForUpdates());
      if (result === null) throw new Error('The updater did not check for updates.');
      // Releases before 6.4 have no isUpdateAvailable.
      const isNewer = result.isUpdateAvailable ?? result.cancellationToken !== undefined;
      return isNewer ? result.updateInfo.version : null;
    },
    download: async () => {
      const [file = '', packaged] = await simulate(() => updater.downloadUpdate());
      // On macOS the updater passes the file to Squirrel.Mac and returns no name.
      if (kind === 'mac') return { name: '', bytes: await squirrel.received, package: null };
      return {
        name: path.basename(file),
        bytes: await readFile(file),
        package: packaged === undefined ? null : await readFile(packaged),
      };
    },
  };
}

/** The names of the files that a differential download copies from, in the cache of the updater. */
const CACHED = { nsis: 'installer.exe', mac: 'update.zip', package: 'package.7z' } as const;

/** Writes what an installation has on disk. */
async function installOn({
  kind,
  url,
  config,
  installed,
  installedPackage,
}: ElectronClientOptions): ReturnType<typeof makeTemporaryDirectory> {
  const home = await makeTemporaryDirectory();
  const document = { provider: 'generic', url, updaterCacheDirName: 'app-updater', ...config };
  await writeFile(path.join(home.path, 'app-update.yml'), stringify(document));
  await mkdir(path.join(home.path, 'bin'));
  const cache = path.join(home.path, 'cache', 'app-updater');
  await mkdir(cache, { recursive: true });
  const program = kind === 'appimage' && installed !== undefined ? installed : 'the old program';
  await writeFile(path.join(home.path, 'App.AppImage'), program);
  if (installed !== undefined && (kind === 'nsis' || kind === 'mac')) {
    await writeFile(path.join(cache, CACHED[kind]), installed);
  }
  if (installedPackage !== undefined) {
    await writeFile(path.join(cache, CACHED.package), installedPackage);
  }
  return home;
}

/** Replaces the globals that describe the machine while `run` runs. Only one client may run at a time. */
async function onMachine<T>(
  options: ElectronClientOptions,
  home: string,
  run: () => Promise<T>,
): Promise<T> {
  const os = require('node:os') as { release: () => string };
  const { release } = os;
  const { arch, platform } = process;
  const { PATH, APPIMAGE } = process.env;
  os.release = () => options.osRelease ?? '99.0.0';
  // For clients that are modules and import it by name.
  syncBuiltinESMExports();
  Object.defineProperty(process, 'arch', { value: options.arch ?? 'x64' });
  Object.defineProperty(process, 'platform', { value: KINDS[options.kind].platform });
  process.env.APPIMAGE = path.join(home, 'App.AppImage');
  // Hides `uname` and `sysctl`, so that MacUpdater uses process.arch.
  process.env.PATH = path.join(home, 'bin');
  try {
    return await run();
  } finally {
    os.release = release;
    syncBuiltinESMExports();
    Object.defineProperty(process, 'arch', { value: arch });
    Object.defineProperty(process, 'platform', { value: platform });
    process.env.PATH = PATH;
    if (APPIMAGE === undefined) delete process.env.APPIMAGE;
    else process.env.APPIMAGE = APPIMAGE;
  }
}

type UpdaterClass = new (options: null, app: object) => Updater;

/** Makes `require('electron')` return the stand-in. */
function replaceElectron(): void {
  const internals = Module as unknown as {
    _resolveFilename(name: string, ...rest: unknown[]): string;
  };
  const resolve = internals._resolveFilename;
  internals._resolveFilename = (name, ...rest) =>
    name === 'electron' ? 'electron-stand-in' : resolve(name, ...rest);
  const standIn = { net: { request: sendRequest }, session: { fromPartition: () => ({}) } };
  Object.defineProperty(standIn, 'autoUpdater', { get: () => nativeUpdater });
  require.cache['electron-stand-in'] = { exports: standIn, loaded: true } as NodeJS.Module;
}

function updaterOf(client: ClientRelease, kind: keyof typeof KINDS): UpdaterClass {
  const { type } = KINDS[kind];
  const found = require(CLIENTS[client])[type];
  if (found === undefined) throw new Error(`${CLIENTS[client]} has no ${type}.`);
  return found;
}

function createExecutor(client: ClientRelease): Updater['httpExecutor'] {
  const { dir } = path.parse(require.resolve(CLIENTS[client]));
  const { ElectronHttpExecutor } = require(path.join(dir, 'electronHttpExecutor.js'));
  return new ElectronHttpExecutor();
}

/** MacUpdater's constructor reads this as Electron's `autoUpdater`. */
let nativeUpdater = new Squirrel();
