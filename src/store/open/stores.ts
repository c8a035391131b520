import path from 'node:path';
import type { Clock, Randomness } from '../../core/clock.ts';
import { openLocalSecret } from '../../core/local-secret.ts';
import { ensureConforming } from '../conformance-probe.ts';
import { type ConformingStore, createConformingStore } from '../conforming-store.ts';
import { createDryRunStore } from '../dry-run-store.ts';
import { openFilesystemStore } from '../filesystem/filesystem.ts';
import { createMeasuredStore, type StartRequest, type StoreOperation } from '../measured-store.ts';
import type { ObjectStore, PresignedUrl, PresignRequest } from '../object-store.ts';
import type { S3StoreOptions } from '../s3/s3.ts';
import type { AppendDeps } from '../sequence/append.ts';
import { createNewestKnown } from '../sequence/newest-known.ts';
import { createSharedClock } from '../shared-clock.ts';
import { createUrlSigner, encodeKey, type UrlSigner } from '../signed-url.ts';
import { createKnownStore } from './known-store.ts';
import type { StoreSettings } from './settings.ts';

/** Opens the stores that the configuration names. */

interface StoreDeps {
  readonly config: StoreSettings;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** See `FilesystemStoreDeps`. */
  readonly checksWhenOpened?: boolean;
  /** Measures the requests to every store that these functions open. */
  readonly startRequest?: StartRequest;
  /** The credentials for a bucket; absent: the credentials that the AWS SDK finds. */
  readonly credentials?: S3StoreOptions['credentials'];
  /** See `S3StoreOptions`. */
  readonly ignoresConfiguredEndpoint?: boolean;
}

/** Signs the links of a directory store. */
export async function openSigner(config: StoreSettings, baseUrl: () => string): Promise<UrlSigner> {
  const secret =
    config.urlSigningSecret ??
    (await openLocalSecret(path.join(config.dataDirectory, 'secrets', 'url-signing-secret')));
  return createUrlSigner({ secret: secret.reveal(), baseUrl });
}

/**
 * The store that the configuration names.
 *
 * @param signUrl makes the links of a directory store; without it, a request for a link fails
 * @throws AppError `store_nonconforming`, `invalid_configuration`
 */
export async function openStore(
  deps: StoreDeps,
  signUrl: (request: PresignRequest) => PresignedUrl = cannotSign,
): Promise<ObjectStore> {
  const { config, clock, randomness, credentials, ignoresConfiguredEndpoint = false } = deps;
  if (config.store.kind === 's3') {
    const options = { ...config.store, clock, randomness, credentials, ignoresConfiguredEndpoint };
    return measured(deps, await openS3Store(options));
  }
  const directory = objectsDirectory(config);
  const store = await openFilesystemStore({
    directory,
    signUrl,
    known: createKnownStore(stateDirectory(config), `directory:${directory}`),
    ...(deps.checksWhenOpened === undefined ? {} : { checksWhenOpened: deps.checksWhenOpened }),
  });
  return measured(deps, store);
}

function measured({ startRequest: start }: StoreDeps, store: ObjectStore): ObjectStore {
  return start === undefined ? store : createMeasuredStore({ store, start });
}

/**
 * Opens the store into which the service writes: the private bucket when one is configured, else `store`. The process
 * probes this store before its first write.
 */
export async function openPrivateStore(
  deps: StoreDeps,
  store: ObjectStore,
): Promise<ConformingStore> {
  const { config, clock, randomness } = deps;
  const { privateBucket: bucket } = config;
  const isShared = bucket === undefined || config.store.kind !== 's3';
  const own = isShared
    ? store
    : measured(deps, await openS3Store({ ...config.store, bucket, clock, randomness }));
  return createConformingStore({ store: own, clock, randomness });
}

/** The directory in which a directory store keeps its objects. */
export function objectsDirectory(config: StoreSettings): string {
  return path.join(config.dataDirectory, 'objects');
}

/** The directory in which processes save the catalog and the id of their store. */
export function stateDirectory(config: StoreSettings): string {
  return path.join(config.dataDirectory, 'state');
}

/**
 * Makes the addresses of public files below `PUBLIC_FILES_URL`. For a bucket, these addresses contain the keys of the
 * files; for a directory store, they contain paths of this service.
 *
 * @param signer the signer of a directory store; undefined for a bucket
 */
export function publicAddressOf(
  { publicFilesUrl: base }: StoreSettings,
  signer: UrlSigner | undefined,
): ((key: string) => string) | undefined {
  if (base === undefined) return undefined;
  const path = signer?.signPublic ?? encodeKey;
  return (key) => `${base}/${path(key)}`;
}

/** Loads the AWS SDK only where it is used: loading it takes longer than the rest of a command. */
async function openS3Store(options: S3StoreOptions): Promise<ObjectStore> {
  const { createS3Store } = await import('../s3/s3.ts');
  return createS3Store(options);
}

function cannotSign(): never {
  throw new Error('Links of a directory store are made by the service alone.');
}

/** The stores that a command opens, without the service. */
export interface Publisher extends AppendDeps {
  /** See {@link openPrivateStore}. */
  readonly privateStore: ObjectStore;
  /**
   * False for a directory without a store. Always true for a bucket: a request to a missing bucket fails with an error
   * that names this reason.
   */
  hasStore(): Promise<boolean>;
  /**
   * Returns dependencies whose store keeps writes in memory. With them, a command learns what a change would do before
   * it makes the change.
   */
  rehearse(): AppendDeps;
  /** Creates a `NewestKnown`, for a command that makes many changes. */
  rememberNewest(): Pick<AppendDeps, 'newestKnown'>;
  /**
   * Probes the store unless it already holds a good verdict. With `fresh`, always probes.
   *
   * @throws AppError `store_nonconforming`
   */
  ensureConforming(options?: { readonly fresh: boolean }): Promise<void>;
}

const WRITES: ReadonlySet<StoreOperation> = new Set(['create', 'upload', 'delete']);

/**
 * @param onWrite called before each request that may change an object of the store
 * @param isDryRun keeps all writes in the memory of this process
 * @throws AppError `invalid_configuration`, `store_nonconforming`
 */
export async function openPublisher(
  deps: StoreDeps & { readonly isDryRun?: boolean; readonly onWrite?: () => void },
): Promise<Publisher> {
  const { clock, randomness, isDryRun = false, onWrite } = deps;
  const startRequest: StartRequest = (operation) => {
    if (WRITES.has(operation)) onWrite?.();
    return () => undefined;
  };
  const store = await openStore({ ...deps, startRequest, checksWhenOpened: false });
  const privateStore = await openPrivateStore(deps, store);
  // Rollouts begin and advance by the store's time.
  const shared = createSharedClock(clock, store);
  const hasStore = async (): Promise<boolean> =>
    store.identify === undefined || (await store.identify()) !== undefined;
  const rehearse = (): AppendDeps => ({
    store: createDryRunStore({ store, clock }),
    clock: shared,
    randomness,
  });
  const rememberNewest = () => ({ newestKnown: createNewestKnown() });
  if (!isDryRun) {
    const ensure: Publisher['ensureConforming'] = (options) =>
      ensureConforming({ store, clock, randomness, ...options });
    const own = { store, privateStore, clock: shared, randomness };
    return { ...own, hasStore, rehearse, rememberNewest, ensureConforming: ensure };
  }
  return {
    ...rehearse(),
    privateStore: createDryRunStore({ store: privateStore, clock }),
    hasStore,
    rehearse,
    rememberNewest,
    // Probing a store would write to the store.
    ensureConforming: async () => {},
  };
}
