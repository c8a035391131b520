/** The public types of `slipway/client`. This file imports nothing, so that its declarations stand alone. */

export interface UpdaterOptions {
  /**
   * The root of trust of the application: the bytes or the text of the file that `slipway trust init` wrote. It comes
   * with the application, never from the network.
   */
  readonly root: Uint8Array | string;
  /**
   * The absolute path of a directory for this application alone, on a disk of this machine, such as a folder below
   * `app.getPath('userData')`. It keeps the verified metadata and the downloads. Do not delete it: the metadata protect
   * from older states.
   */
  readonly cache: string;
  /** The address of the update service, such as `https://updates.example.com`. */
  readonly url: string;
  /** The name of the application at the service. */
  readonly app: string;
  /** Default: `stable`. */
  readonly channel?: string;
  /** The version of the running application (SemVer 2.0.0). */
  readonly currentVersion: string;
  /**
   * A stable and anonymous id of the installation, such as a random UUID that the application stores. A staged rollout
   * offers a release to some installations first; an installation without an id gets it last.
   */
  readonly installationId?: string;
  /** Default: `process.platform`. */
  readonly platform?: string;
  /** Default: `process.arch`, the architecture of the running program. */
  readonly arch?: string;
  /**
   * The version of the system: `os.release()` on Windows and Linux, `process.getSystemVersion()` of Electron on macOS.
   * These are the defaults. Without a version, the service offers no build that needs a minimum version of the system,
   * and the client accepts none.
   */
  readonly osVersion?: string;
  /**
   * The format of the installed package, such as `nsis` or `appimage`. The client accepts no other format. Default: what
   * is usual on the platform.
   */
  readonly format?: string;
  /** True: also accepts an older version, on a channel whose keys signed `allow_downgrade`. Default: false. */
  readonly allowDowngrade?: boolean;
  /** Further headers for every request to the service, such as Authorization. No other host gets them. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Replaces the global `fetch`, for example by `net.fetch` of Electron, which uses the proxy of the system. It must obey
   * `redirect`: `manual` gives the answer that redirects. `net.fetch` fails there instead: the client then repeats the
   * request without `headers`, and with `redirect: 'follow'`.
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface CheckOptions {
  /** Ends the check early. */
  readonly signal?: AbortSignal;
  /** True when a person asks for the update by hand. Default: false. */
  readonly isManual?: boolean;
}

/** The result of a check. No signature proves the reason of the service. */
export type CheckResult =
  | {
      readonly isOffered: true;
      readonly offer: UpdateOffer;
      /** The service asks clients to check again after this time. */
      readonly checkAgainAfterSeconds: number;
    }
  | {
      readonly isOffered: false;
      /** Why the service offers nothing: `up_to_date`, `held_by_rollout` and others. */
      readonly reason: string;
      readonly checkAgainAfterSeconds: number;
    };

/** A file of a release, as the signed manifest states it. */
export interface SignedFile {
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Hex. */
  readonly sha512: string;
  /** The address of the file at the service. */
  readonly url: string;
}

/** A release that the service chose, and that the keys of the channel signed. */
export interface UpdateOffer {
  readonly version: string;
  /** True when the release is older than the running version. */
  readonly isDowngrade: boolean;
  /** True when the release is mandatory for the running version. */
  readonly isMandatory: boolean;
  /** ISO 8601, UTC. */
  readonly releasedAt: string;
  /** Markdown, by language tag; `und` is the default. */
  readonly notes: Readonly<Record<string, string>>;
  readonly platform: string;
  readonly arch: string;
  readonly format: string;
  readonly file: SignedFile;
}

export interface DownloadOptions {
  /** Stops the download. A later download of the same offer goes on where this one stopped. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DownloadProgress) => void;
}

export interface DownloadProgress {
  /** Bytes on the disk, including the bytes of an earlier try. */
  readonly received: number;
  /** Bytes of the file. */
  readonly total: number;
}

export interface Updater {
  /**
   * Asks the service for an update, and verifies that the keys of the channel signed what it offers. When they did not,
   * it asks once more after two seconds: for a moment after a release, caches have older metadata.
   *
   * @throws UpdaterError
   */
  check(options?: CheckOptions): Promise<CheckResult>;
  /**
   * Downloads the file of an offer. The file gets its name only after every byte was verified. Removes files of other
   * releases, unless a running process downloads them or got them last.
   *
   * @returns the path of the verified file
   * @throws UpdaterError; and what `onProgress` throws
   */
  download(offer: UpdateOffer, options?: DownloadOptions): Promise<string>;
}

/**
 * The settings of a provider for electron-updater. The provider takes the version, `allowDowngrade` and
 * `requestHeaders` from the `autoUpdater`. Without `installationId`, it sends the id that electron-updater keeps for
 * staged rollouts.
 */
export type ElectronProviderOptions = Omit<
  UpdaterOptions,
  'currentVersion' | 'allowDowngrade' | 'headers' | 'platform'
>;

/** The class for `autoUpdater.setFeedURL({ provider: 'custom', updateProvider })`. electron-updater makes the object. */
export type ElectronProvider = new (feed: unknown, updater: unknown, runtime: unknown) => object;
