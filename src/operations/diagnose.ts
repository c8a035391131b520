import { readStoreTime } from '../catalog/artifact-upload.ts';
import { clockKey } from '../catalog/keys.ts';
import { findMissingRevisions, readApplications, readRevision } from '../catalog/read.ts';
import { CLOCK_DIFFERENCE_MAX_MS } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { AppendDeps } from '../sequence/append.ts';

export interface Check {
  readonly name: string;
  readonly outcome: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

export interface DiagnoseDeps extends AppendDeps {
  /** Runs the conformance probe afresh; answers in a sentence, throws when the store fails it. */
  readonly probe: () => Promise<string>;
  /**
   * Fetches a presigned URL as a client would; undefined when nothing serves it outside the service.
   *
   * @returns the HTTP status
   */
  readonly fetchPresigned: ((url: string) => Promise<number>) | undefined;
  /** Whether other users of this machine may look into a directory store; undefined for a bucket. */
  readonly isOpenToUsers: (() => Promise<boolean>) | undefined;
  /** Where accounts, sessions and messages are; the same as `store` unless it has a bucket of its own. */
  readonly privateStore: ObjectStore;
}

/** Presigned URLs and ages of uploads stop making sense beyond this. */

/** Tries everything that publishing and serving need of the store, and says what came of it. */
export async function diagnose(deps: DiagnoseDeps): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const check = async (name: string, run: () => Promise<string | Check>): Promise<boolean> => {
    try {
      const result = await run();
      checks.push(typeof result === 'string' ? { name, outcome: 'ok', detail: result } : result);
      return true;
    } catch (error) {
      if (!isAppError(error)) throw error;
      checks.push({ name, outcome: 'failed', detail: error.message });
      return false;
    }
  };
  const reachable = await check('object store', () => checkReachable(deps));
  if (!reachable) return checks;
  await check('conditional writes', deps.probe);
  await check('clocks', () => checkClocks(deps));
  await check('presigned download', () => checkPresigned(deps));
  await check('catalogs', () => checkCatalogs(deps));
  await check('private data', () => checkAnonymous(deps));
  await check('erasure', () => checkErasure(deps.privateStore));
  return checks;
}

async function checkReachable(deps: DiagnoseDeps): Promise<string> {
  // Doubles as the check of s3:ListBucket, without which a missing object answers 403.
  const missing = await deps.store.get(clockKey(deps.randomness.id()));
  if (missing !== undefined) throw new AppError('store_nonconforming', 'A random key exists.');
  return `${deps.store.location} answers, and says 404 for what it does not have.`;
}

async function checkClocks(deps: DiagnoseDeps): Promise<Check> {
  const skew = (await readStoreTime(deps)) - deps.clock.now();
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= CLOCK_DIFFERENCE_MAX_MS) {
    return {
      name: 'clocks',
      outcome: 'ok',
      detail: `This machine and the store agree within ${seconds + 1} s.`,
    };
  }
  const detail = `This machine's clock is ${seconds} s ${skew > 0 ? 'behind' : 'ahead of'} the store's. Set it: signatures and expiry times depend on it.`;
  return { name: 'clocks', outcome: 'failed', detail };
}

async function checkPresigned(deps: DiagnoseDeps): Promise<Check> {
  const name = 'presigned download';
  if (deps.fetchPresigned === undefined) {
    return {
      name,
      outcome: 'ok',
      detail: 'Downloads come from the service itself (directory store).',
    };
  }
  const key = clockKey(deps.randomness.id());
  await deps.store.create(key, new Uint8Array([0]));
  try {
    const signedAt = new Date(deps.clock.now());
    const expiresAt = new Date(signedAt.getTime() + 60_000);
    const { url } = await deps.store.presign({
      method: 'GET',
      key,
      filename: 'probe',
      signedAt,
      expiresAt,
    });
    const host = new URL(url).origin;
    const status = await deps.fetchPresigned(url);
    return status === 200
      ? { name, outcome: 'ok', detail: `A presigned URL at ${host} answers.` }
      : {
          name,
          outcome: 'failed',
          detail: `A presigned URL at ${host} answered ${status}. Is S3_PUBLIC_ENDPOINT the name clients reach, and does the proxy keep the Host header?`,
        };
  } finally {
    await deps.store.delete(key);
  }
}

/** Private data lies below each of these; a policy may open one and not another. */
const PRIVATE_ROOTS = [
  'accounts/',
  'sessions/',
  'developer-keys/',
  'invitations/',
  'contact/',
] as const;

/** Fetches private objects without a signature, as a stranger would. */
async function checkAnonymous(deps: DiagnoseDeps): Promise<Check> {
  const name = 'private data';
  const { privateStore } = deps;
  if (deps.isOpenToUsers !== undefined) return checkDirectory(privateStore, deps.isOpenToUsers);
  const answers = await Promise.all(
    PRIVATE_ROOTS.map(async (root) => ({ root, status: await fetchAnonymously(deps, root) })),
  );
  const open = answers.filter(({ status }) => status >= 200 && status < 400);
  const unclear = answers.filter(({ status }) => status !== 401 && status !== 403);
  const where = privateStore.location;
  if (open.length > 0) {
    const roots = open.map(({ root, status }) => `${root} (${status})`).join(', ');
    const detail = `Anyone can read ${where}: unsigned requests are answered below ${roots}. Take public access away, or set S3_PRIVATE_BUCKET.`;
    return { name, outcome: 'failed', detail };
  }
  if (unclear.length > 0) {
    const statuses = [...new Set(unclear.map(({ status }) => status || 'nothing'))].join(', ');
    const detail = `Whether ${where} is private is unknown: unsigned requests were answered ${statuses}, which neither allows nor refuses.`;
    return { name, outcome: 'warning', detail };
  }
  return {
    name,
    outcome: 'ok',
    detail: `Without a signature ${where} answers ${answers[0]?.status}.`,
  };
}

async function checkDirectory(
  { location }: ObjectStore,
  isOpenToUsers: () => Promise<boolean>,
): Promise<Check> {
  const name = 'private data';
  if (await isOpenToUsers()) {
    const detail = `Other users of this machine can look into ${location}, where accounts and messages are: chmod 700 it.`;
    return { name, outcome: 'warning', detail };
  }
  return { name, outcome: 'ok', detail: 'Only the owner of the directory can look into it.' };
}

/** @returns the HTTP status of an unsigned GET of an object below the root; 0 for no answer */
async function fetchAnonymously(deps: DiagnoseDeps, root: string): Promise<number> {
  const { privateStore, fetchPresigned = async () => 0 } = deps;
  const key = `${root}probe-${deps.randomness.id()}`;
  await privateStore.create(key, new Uint8Array([0]));
  try {
    const signedAt = new Date(deps.clock.now());
    const expiresAt = new Date(signedAt.getTime() + 60_000);
    const request = { method: 'GET', key, filename: 'probe', signedAt, expiresAt } as const;
    const address = new URL((await privateStore.presign(request)).url);
    address.search = '';
    return await fetchPresigned(address.href);
  } finally {
    await privateStore.delete(key);
  }
}

async function checkErasure(store: ObjectStore): Promise<Check> {
  const name = 'erasure';
  const keepsVersions = await store.keepsVersions();
  if (keepsVersions === true) {
    const detail = `${store.location} keeps versions: what is erased stays readable as an older version. Use a bucket without versioning, or have a lifecycle rule expire old versions.`;
    return { name, outcome: 'warning', detail };
  }
  const detail =
    keepsVersions === undefined
      ? 'The store does not say whether it keeps versions (s3:GetBucketVersioning).'
      : 'What is deleted is gone: the store keeps no versions.';
  return { name, outcome: keepsVersions === undefined ? 'warning' : 'ok', detail };
}

async function checkCatalogs(deps: DiagnoseDeps): Promise<string> {
  const applications = await readApplications(deps);
  if (applications.length === 0) return 'Nothing is published yet.';
  const states = await Promise.all(
    applications.map(async (name) => {
      const missing = await findMissingRevisions(deps, name);
      if (missing.length > 0) {
        throw new AppError(
          'document_corrupt',
          `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing. Restore from a backup; "slipway verify" says what else is wrong.`,
        );
      }
      const revision = await readRevision(deps, name);
      return `${name} at revision ${revision?.signed.revision ?? 0}`;
    }),
  );
  return `${states.join(', ')}.`;
}
