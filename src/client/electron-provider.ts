import { isRecord } from '../core/json-record.ts';
import {
  describeElectronUpdate,
  type ElectronUpdateInfo,
} from '../updaters/electron/electron-info.ts';
import {
  type DownloadedFile,
  type HttpExecutor,
  INSTALLED_MAP,
  limitDownloads,
  listDownloads,
} from './electron-downloads.ts';
import type { ElectronProvider, ElectronProviderOptions } from './types.ts';
import { createVerifier } from './verifier.ts';

/**
 * A provider for electron-updater: the service chooses a release, this provider verifies that the keys of the channel
 * signed it, and electron-updater does the rest, with its differential downloads and its checks.
 */

/** The parts of electron-updater (6.8 and 7) that the provider uses. Its own types need the types of Electron. */
interface ElectronUpdater {
  readonly currentVersion: { readonly version: string };
  readonly allowDowngrade: boolean;
  readonly httpExecutor: HttpExecutor | null;
  /** The content of app-update.yml. */
  readonly configOnDisk?: { readonly value: Promise<unknown> };
}

interface RuntimeOptions {
  /** Always true for a provider of the application: electron-updater reads the setting for its own providers only. */
  readonly isUseMultipleRangeRequest: boolean;
  readonly platform: 'darwin' | 'linux' | 'win32';
}

type RequestHeaders = Readonly<Record<string, string>>;

/** An `UpdateInfo` of electron-updater, or the running version when there is no update. */
type UpdateInfo =
  | ElectronUpdateInfo
  | (Pick<ElectronUpdateInfo, 'version' | 'releaseDate'> & { readonly files: readonly never[] });

/** What the application passes to `setFeedURL`, or its app-update.yml, may forbid several ranges in one request. */
function mayUseSeveralRanges(config: unknown): boolean {
  return !isRecord(config) || config.useMultipleRangeRequest !== false;
}

/** The formats that a check asks for. On Linux, the service knows the usual ones. */
const FORMATS: Readonly<Record<string, string>> = { win32: 'nsis', darwin: 'zip' };

/**
 * Makes the class for `autoUpdater.setFeedURL({ provider: 'custom', updateProvider })`. The object of this class throws
 * an `UpdaterError` for what it refuses, and electron-updater emits it as `error`.
 */
export function createElectronProvider(options: ElectronProviderOptions): ElectronProvider {
  return class SlipwayProvider {
    readonly #updater: ElectronUpdater;
    readonly #runtime: RuntimeOptions;
    #usesSeveralRanges: boolean;
    #headers: RequestHeaders = {};
    #verifier:
      | { readonly for: string; readonly made: ReturnType<typeof createVerifier> }
      | undefined;

    constructor(feed: unknown, updater: unknown, runtime: unknown) {
      this.#updater = updater as ElectronUpdater;
      this.#runtime = runtime as RuntimeOptions;
      this.#usesSeveralRanges =
        this.#runtime.isUseMultipleRangeRequest !== false && mayUseSeveralRanges(feed);
    }

    get isUseMultipleRangeRequest(): boolean {
      return this.#usesSeveralRanges;
    }

    /** Null: the downloads get the `requestHeaders` of the `autoUpdater`. */
    get fileExtraDownloadHeaders(): null {
      return null;
    }

    setRequestHeaders(headers: RequestHeaders | null): void {
      this.#headers = headers ?? {};
    }

    /** @throws UpdaterError electron-updater emits it as `error` */
    async getLatestVersion(): Promise<UpdateInfo> {
      const { client, check } = this.#openVerifier();
      const result = await check();
      const none = { version: this.#updater.currentVersion.version, files: [], releaseDate: '' };
      if (!result.isOffered) return none;
      const { release } = result.verified;
      const folder = `${client.service}/feeds/${encodeURIComponent(options.app)}/${encodeURIComponent(client.channel)}/electron/${encodeURIComponent(release.version)}`;
      const urlOf = (filename: string): string => `${folder}/${encodeURIComponent(filename)}`;
      const info = describeElectronUpdate({ ...client.machine, release, urlOf });
      if (info === undefined) return none;
      const files = new Map<string, DownloadedFile>();
      for (const { url } of info.files) {
        const [installed] = this.getBlockMapFiles(new URL(url), none.version, info.version);
        if (installed !== undefined) files.set(installed.href, INSTALLED_MAP);
      }
      for (const [url, file] of listDownloads(release, urlOf)) files.set(url, file);
      limitDownloads(this.#updater.httpExecutor, files);
      const config = await this.#updater.configOnDisk?.value.catch(() => undefined);
      this.#usesSeveralRanges &&= mayUseSeveralRanges(config);
      return info;
    }

    resolveFiles(info: ElectronUpdateInfo) {
      const packages = info.packages ?? {};
      const packageInfo = packages[process.arch] ?? packages.ia32;
      return info.files.map((file) => ({
        url: new URL(file.url),
        info: file,
        ...(packageInfo === undefined ? {} : { packageInfo }),
      }));
    }

    /** The lists of blocks are beside the files, below the version of each. */
    getBlockMapFiles(file: URL, oldVersion: string, newVersion: string): URL[] {
      const oldPath = file.pathname.replaceAll(newVersion, oldVersion);
      return [oldPath, file.pathname].map((name) => new URL(`${name}.blockmap`, file));
    }

    /** Keeps the verifier, and with it the verified roles, while the settings of the `autoUpdater` are the same. */
    #openVerifier(): ReturnType<typeof createVerifier> {
      const { 'x-user-staging-id': stagingId, ...headers } = this.#headers;
      const installationId = options.installationId ?? stagingId;
      const { currentVersion, allowDowngrade } = this.#updater;
      const { platform } = this.#runtime;
      const format = options.format ?? FORMATS[platform];
      const asked = {
        headers,
        platform,
        currentVersion: currentVersion.version,
        allowDowngrade,
        ...(installationId === undefined ? {} : { installationId }),
        ...(format === undefined ? {} : { format }),
      };
      const id = JSON.stringify(asked);
      if (this.#verifier?.for !== id) {
        this.#verifier = { for: id, made: createVerifier({ ...options, ...asked }) };
      }
      return this.#verifier.made;
    }
  };
}
