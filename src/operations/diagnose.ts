import { readStoreTime } from '../catalog/artifact-upload.ts';
import { clockKey } from '../catalog/keys.ts';
import { findMissingRevisions, readApplications, readRevision } from '../catalog/read.ts';
import { CLOCK_DIFFERENCE_MAX_MS } from '../clock.ts';
import { counted } from '../counted.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { AppendDeps } from '../sequence/append.ts';

/** A prefix below which a part of the service keeps documents. */
export interface KeyRoot {
  /** With its slash: `accounts/`. */
  readonly prefix: string;
  /** The name of the objects below it, in the plural: `accounts`. */
  readonly name: string;
}

export interface DiagnoseDeps extends AppendDeps {
  /** Probes the store's conditional writes anew; answers in a sentence. @throws AppError when the store fails */
  readonly probe: () => Promise<string>;
  /**
   * Fetches a URL as a client would; undefined when only the service serves files.
   *
   * @returns the HTTP status; 0 without a response
   */
  readonly fetchStatus: ((url: string) => Promise<number>) | undefined;
  /** Whether other users of this machine can read a directory store; undefined for a bucket. */
  readonly isOpenToUsers: (() => Promise<boolean>) | undefined;
  /** Where accounts, sessions and messages are: `store`, unless S3_PRIVATE_BUCKET is set. */
  readonly privateStore: ObjectStore;
  /** The prefixes that must not be public. Each is checked: a bucket policy may open one prefix and not another. */
  readonly privateRoots: readonly KeyRoot[];
}

interface Finding {
  readonly outcome: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

interface Check extends Finding {
  readonly name: string;
}

const ok = (detail: string): Finding => ({ outcome: 'ok', detail });
const warning = (detail: string): Finding => ({ outcome: 'warning', detail });
const failed = (detail: string): Finding => ({ outcome: 'failed', detail });

/** Tests everything that publishing and serving need from the store. Stops when the store cannot be reached. */
export async function diagnose(deps: DiagnoseDeps): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const [name, run] of Object.entries(CHECKS)) {
    const finding = await run(deps).catch((error: unknown) => {
      if (!isAppError(error)) throw error;
      return failed(error.message);
    });
    checks.push({ name, ...finding });
    if (run === checkReachable && finding.outcome === 'failed') break;
  }
  return checks;
}

const CHECKS: Readonly<Record<string, (deps: DiagnoseDeps) => Promise<Finding>>> = {
  'object store': checkReachable,
  'conditional writes': async ({ probe }) => ok(await probe()),
  clocks: checkClocks,
  'presigned download': checkPresigned,
  catalogs: checkCatalogs,
  'private data': checkPrivate,
  erasure: checkErasure,
};

/** Also checks for s3:ListBucket: without it S3 answers 403 for a missing object. */
async function checkReachable({ store, randomness }: DiagnoseDeps): Promise<Finding> {
  const missing = await store.get(clockKey(randomness.id()));
  return missing === undefined
    ? ok(`${store.location} answers, and answers 404 for a missing object.`)
    : failed(`${store.location} returned an object for a random key.`);
}

/** Signatures of presigned URLs and the ages of uploads depend on it. */
async function checkClocks(deps: DiagnoseDeps): Promise<Finding> {
  const differenceMs = (await readStoreTime(deps)) - deps.clock.now();
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  if (Math.abs(differenceMs) <= CLOCK_DIFFERENCE_MAX_MS) {
    return ok(`The clocks of this machine and the store agree within ${seconds + 1} s.`);
  }
  return failed(
    `The clock of this machine is ${seconds} s ${differenceMs > 0 ? 'behind' : 'ahead of'} the store's. Set it: signatures and expiry times depend on it.`,
  );
}

async function checkPresigned(deps: DiagnoseDeps): Promise<Finding> {
  const { fetchStatus } = deps;
  if (fetchStatus === undefined) {
    return ok('The service itself serves downloads from a directory store.');
  }
  return withProbe(deps, deps.store, clockKey(deps.randomness.id()), async (url) => {
    const status = await fetchStatus(url);
    const host = new URL(url).origin;
    if (status === 200) return ok(`A presigned URL at ${host} works.`);
    return failed(
      `A presigned URL at ${host} ${answered(status)}. Check that S3_PUBLIC_ENDPOINT is the address that clients reach, and that the proxy keeps the Host header.`,
    );
  });
}

async function checkCatalogs(deps: DiagnoseDeps): Promise<Finding> {
  const applications = await readApplications(deps);
  if (applications.length === 0) return ok('No application is published yet.');
  const states: string[] = [];
  for (const name of applications) {
    const missing = await findMissingRevisions(deps, name);
    if (missing.length > 0) {
      throw new AppError(
        'document_corrupt',
        `${counted(missing.length, 'catalog revision')} of ${name} ${missing.length === 1 ? 'is' : 'are'} missing: ${missing.join(', ')}. Restore from a backup; "slipway verify" lists what else is wrong.`,
      );
    }
    const revision = await readRevision(deps, name);
    states.push(`${name} at revision ${revision?.signed.revision ?? 0}`);
  }
  return ok(`${states.join(', ')}.`);
}

async function checkPrivate(deps: DiagnoseDeps): Promise<Finding> {
  const { privateStore, isOpenToUsers, privateRoots } = deps;
  const where = privateStore.location;
  if (isOpenToUsers !== undefined) {
    if (!(await isOpenToUsers())) return ok(`Only its owner can read ${where}.`);
    return warning(
      `Other users of this machine can read ${where}, where accounts and messages are. Run "chmod 700" on it.`,
    );
  }
  const answers = await Promise.all(
    privateRoots.map(async (root) => ({ ...root, status: await fetchUnsigned(deps, root) })),
  );
  const open = answers.filter(({ status }) => status >= 200 && status < 400);
  if (open.length > 0) {
    const names = open.map(({ name }) => name).join(', ');
    const statuses = open.map(({ prefix, status }) => `${prefix} (${status})`).join(', ');
    return failed(
      `${where} is public: requests without a signature can read ${names}: ${statuses}. Remove public access, or set S3_PRIVATE_BUCKET to a private bucket.`,
    );
  }
  const unclear = answers.filter(({ status }) => status !== 401 && status !== 403);
  if (unclear.length > 0) {
    const statuses = [...new Set(unclear.map(({ status }) => answered(status)))].join(' or ');
    return warning(
      `It is unknown whether ${where} is private: a request without a signature ${statuses}, not 401 or 403.`,
    );
  }
  return ok(`${where} refuses requests without a signature.`);
}

/** @returns the HTTP status of an unsigned GET of an object below the root; 0 without a response */
function fetchUnsigned(deps: DiagnoseDeps, { prefix }: KeyRoot): Promise<number> {
  const { privateStore, randomness, fetchStatus = async () => 0 } = deps;
  return withProbe(deps, privateStore, `${prefix}probe-${randomness.id()}`, (url) => {
    const unsigned = new URL(url);
    unsigned.search = '';
    return fetchStatus(unsigned.href);
  });
}

/** Stores an object for as long as `use` needs its presigned URL. */
async function withProbe<T>(
  { clock }: DiagnoseDeps,
  store: ObjectStore,
  key: string,
  use: (url: string) => Promise<T>,
): Promise<T> {
  await store.create(key, new Uint8Array([0]));
  try {
    const signedAt = new Date(clock.now());
    const expiresAt = new Date(signedAt.getTime() + 60_000);
    const request = { method: 'GET', key, filename: 'probe', signedAt, expiresAt } as const;
    return await use((await store.presign(request)).url);
  } finally {
    await store.delete(key);
  }
}

function answered(status: number): string {
  return status === 0 ? 'got no response' : `got ${status}`;
}

async function checkErasure({ privateStore }: DiagnoseDeps): Promise<Finding> {
  const keepsVersions = await privateStore.keepsVersions();
  if (keepsVersions === false) {
    return ok('The store keeps no old versions, so deleted objects are gone.');
  }
  if (keepsVersions === undefined) {
    return warning(
      'The store does not tell whether it keeps old versions of deleted objects. Allow s3:GetBucketVersioning, and run this command again.',
    );
  }
  return warning(
    `${privateStore.location} keeps versions: erased accounts and messages stay readable as old versions. Use a bucket without versioning, or a lifecycle rule that expires old versions.`,
  );
}
