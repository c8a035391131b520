import { clockKey } from '../../../catalog/documents/keys.ts';
import { FULLNESS_REMEDY, fullnessSentence } from '../../../catalog/reading/fullness-text.ts';
import {
  findRevisionProblems,
  readApplications,
  readRevision,
} from '../../../catalog/reading/read.ts';
import { readStoreTime } from '../../../catalog/writing/artifact-upload.ts';
import type { Check, Finding } from '../../../core/check.ts';
import { CLOCK_DIFFERENCE_MAX_MS } from '../../../core/clock.ts';
import { counted } from '../../../core/counted.ts';
import { AppError, isAppError } from '../../../core/errors.ts';
import type { KeyRoot } from '../../../core/key-facts.ts';
import {
  UNSERVED_REMEDY,
  unservedIn,
  unservedSentence,
} from '../../../releases/forecast/foresee-unserved.ts';
import type { ObjectStore } from '../../../store/object-store.ts';
import type { AppendDeps } from '../../../store/sequence/append.ts';
import { type Ask, answered, askSurely } from './ask.ts';
import { failed, ok, runChecks, skipped, warning } from './finding.ts';
import { checkPublicFiles } from './public-files.ts';
import { type RightsDeps, rightToCleanUp, rightToPublish, rightToServe } from './rights.ts';
import { checkSignatures, readingWithoutRoot } from './signatures.ts';
import { checkSignedStates, type SignedStatesDeps } from './signed-states.ts';
import { withProbe } from './with-probe.ts';

/** Free space, in bytes. */
export interface Space {
  readonly free: number;
  readonly total: number;
}

export interface DiagnoseDeps extends AppendDeps, RightsDeps, SignedStatesDeps {
  /** Names in the environment that look like misspelled settings, as sentences. */
  readonly misspelled: readonly string[];
  /** The versions of Slipway and Node, for the first line. */
  readonly versions: string;
  /**
   * Probes the conditional writes of the store again, and states the result in a sentence. Rejects when the store
   * fails.
   */
  readonly probe: () => Promise<string>;
  readonly ask: Ask;
  /** True when clients fetch files from the store itself; otherwise the service sends them. */
  readonly isBucket: boolean;
  /** Says whether other users of this machine can read a directory store; undefined for a bucket. */
  readonly isOpenToUsers: (() => Promise<boolean>) | undefined;
  /** Says why the service could not save its catalogs in DATA_DIR; undefined when it can. */
  readonly findSaveProblem: () => Promise<string | undefined>;
  /** Reads the space of the volume of a directory store; undefined for a bucket. */
  readonly readSpace: (() => Promise<Space>) | undefined;
  /** The store of accounts, sessions and messages: `store`, unless S3_PRIVATE_BUCKET is set. */
  readonly privateStore: ObjectStore;
  /** Returns the address of a public file; undefined when PUBLIC_FILES_URL is not set. */
  readonly publicAddress: ((key: string) => string) | undefined;
}

/** Below this free space, in bytes, the next release may not fit. */
const FREE_BYTES_WARNING = 2e9;
/** Below this free space, in bytes, the service may soon be unable to store even counts and sessions. */
const FREE_BYTES_MIN = 100e6;

/** Tests everything that publishing and serving need from the store. Stops when it cannot reach the store. */
export async function diagnose(given: DiagnoseDeps): Promise<readonly Check[]> {
  const deps = readingWithoutRoot(given);
  let isConforming = false;
  /**
   * Skips a check when the conditional writes did not pass their check: a store that ignores conditions would let the
   * skipped check overwrite existing objects.
   */
  const ifConforming = async (check: (deps: DiagnoseDeps) => Promise<Finding>): Promise<Finding> =>
    isConforming
      ? check(deps)
      : skipped('This check needs conditional writes, which did not pass their check.');
  return runChecks(
    {
      versions: async () => ok(deps.versions),
      settings: async () => checkSettings(deps),
      'object store': () => checkReachable(deps),
      'conditional writes': async () => {
        const finding = await checkConditionalWrites(deps);
        isConforming = finding.outcome === 'ok';
        return finding;
      },
      clocks: () => checkClocks(deps),
      'right to publish': () => ifConforming(rightToPublish),
      'right to serve': () => rightToServe(deps),
      'right to clean up': () => ifConforming(rightToCleanUp),
      'presigned download': () => checkPresigned(deps),
      'public files': () => checkPublicFiles(deps),
      catalogs: () => checkCatalogs(deps),
      signatures: () => checkSignatures(given),
      'signed states': () => checkSignedStates(deps),
      'new visitors': () => checkVisitors(deps),
      'private data': () => checkPrivate(deps),
      erasure: () => checkErasure(deps),
      space: () => checkSpace(deps),
      'saved catalogs': () => checkSavedCatalogs(deps),
    },
    { stopsAfter: 'object store' },
  );
}

function checkSettings({ misspelled }: DiagnoseDeps): Finding {
  if (misspelled.length === 0) return ok('No variable looks like a misspelled setting.');
  return warning(misspelled.join(' '), 'Correct the name, or remove the variable.');
}

/** Also checks the right s3:ListBucket: without this right, S3 answers 403 for a missing object. */
async function checkReachable({ store, randomness }: DiagnoseDeps): Promise<Finding> {
  const missing = await store.get(clockKey(randomness.id()));
  return missing === undefined
    ? ok(`${store.location} answers, and answers 404 for a missing object.`)
    : failed(
        `${store.location} returned an object for a random key.`,
        'Another server answers instead of the store, such as a proxy. Correct S3_ENDPOINT.',
      );
}

/**
 * Skips the check when the credentials cannot write: a service with a private bucket needs no right to write to the
 * bucket of the releases.
 */
async function checkConditionalWrites({ probe, isBucket }: DiagnoseDeps): Promise<Finding> {
  try {
    return ok(await probe());
  } catch (error) {
    if (!isBucket || !isAppError(error, 'store_denied')) throw error;
    return skipped(`These credentials cannot write to the store. ${error.message}`);
  }
}

/**
 * Compares the clock of this machine with the clock of the store: signatures of presigned URLs and the ages of uploads
 * depend on both clocks.
 */
async function checkClocks(deps: DiagnoseDeps): Promise<Finding> {
  const differenceMs = (await readStoreTime(deps)) - deps.clock.now();
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  if (Math.abs(differenceMs) <= CLOCK_DIFFERENCE_MAX_MS) {
    return ok(`The clocks of this machine and the store agree within ${seconds + 1} s.`);
  }
  return failed(
    `The clock of this machine is ${seconds} s ${differenceMs > 0 ? 'behind' : 'ahead of'} the store's.`,
    'Set the clock: signatures and expiry times depend on it.',
  );
}

async function checkPresigned(deps: DiagnoseDeps): Promise<Finding> {
  if (!deps.isBucket) return ok('The service itself serves downloads from a directory store.');
  return withProbe(deps, deps.store, clockKey(deps.randomness.id()), async (url) => {
    const reply = await askSurely(deps.ask, url);
    const host = new URL(url).origin;
    if (reply.status === 200) return ok(`A presigned URL at ${host} works.`);
    return failed(
      `A presigned URL at ${host} ${answered(reply)}.`,
      'Check that S3_PUBLIC_ENDPOINT is the address that clients reach, that S3_REGION is the region of the bucket, and that a proxy in front of the store keeps the Host header.',
    );
  });
}

async function checkCatalogs(deps: DiagnoseDeps): Promise<Finding> {
  const applications = await readApplications(deps);
  if (applications.length === 0) return ok('No application is published yet.');
  const states: string[] = [];
  const nearlyFull: string[] = [];
  const ignored: string[] = [];
  for (const name of applications) {
    const { missing, garbage } = await findRevisionProblems(deps, name);
    ignored.push(...garbage);
    if (missing.length > 0) {
      throw new AppError(
        'document_corrupt',
        `${counted(missing.length, 'catalog revision')} of ${name} ${missing.length === 1 ? 'is' : 'are'} missing: ${missing.join(', ')}. Restore from a backup; "slipway verify" lists what else is wrong.`,
      );
    }
    const revision = await readRevision(deps, name);
    const gap = deps.trust?.of(name)?.gapProblem();
    if (gap !== undefined) throw new AppError('document_corrupt', gap);
    states.push(`${name} at revision ${revision?.signed.revision ?? 0}`);
    const sentence =
      revision &&
      fullnessSentence(name, revision.signed.channels, revision.signed.removed_versions ?? []);
    if (sentence !== undefined) nearlyFull.push(sentence);
  }
  const found = `${states.join(', ')}.`;
  if (ignored.length > 0) {
    return warning([found, ...ignored].join(' '), 'Find out who can write the bucket.');
  }
  return nearlyFull.length === 0
    ? ok(found)
    : warning([found, ...nearlyFull].join(' '), FULLNESS_REMEDY);
}

/** Checks that each channel that had a release gives one to new visitors. */
async function checkVisitors(deps: DiagnoseDeps): Promise<Finding> {
  const names = await readApplications(deps);
  const found: string[] = [];
  for (const name of names) {
    const channels = (await readRevision(deps, name))?.signed.channels ?? {};
    for (const unserved of unservedIn(channels, deps.clock.now())) {
      found.push(`${name}: ${unservedSentence(unserved)}`);
    }
  }
  return found.length === 0
    ? ok('Every channel that had a release gives one to new visitors.')
    : warning(found.join(' '), UNSERVED_REMEDY);
}

async function checkPrivate(deps: DiagnoseDeps): Promise<Finding> {
  const { privateStore, isOpenToUsers, privateRoots } = deps;
  const where = privateStore.location;
  if (isOpenToUsers !== undefined) {
    if (!(await isOpenToUsers())) return ok(`Only its owner can read ${where}.`);
    return warning(
      `Other users of this machine can read ${where}, where accounts and messages are.`,
      'Run "chmod 700" on it.',
    );
  }
  const asked = privateRoots.map(async (root) => ({ ...root, ...(await askUnsigned(deps, root)) }));
  const replies = await Promise.all(asked).catch((error: unknown) => {
    if (isAppError(error) && error.code === 'store_denied') return undefined;
    throw error;
  });
  if (replies === undefined) {
    return skipped(
      'These credentials cannot store the objects that this check then requests without a signature. Run this command with the credentials of the service.',
    );
  }
  const open = replies.filter(({ status }) => status >= 200 && status < 400);
  if (open.length > 0) {
    const names = open.map(({ name }) => name).join(', ');
    const statuses = open.map(({ prefix, status }) => `${prefix} (${status})`).join(', ');
    return failed(
      `${where} is public: requests without a signature can read ${names}: ${statuses}.`,
      'Remove public access, or set S3_PRIVATE_BUCKET to a private bucket.',
    );
  }
  const unclear = replies.filter(({ status }) => status !== 401 && status !== 403);
  if (unclear.length > 0) {
    const statuses = [...new Set(unclear.map(answered))].join(' or ');
    return warning(
      `It is unknown whether ${where} is private: a request without a signature ${statuses}, not 401 or 403.`,
      'Send a request without a signature from another machine: the store must refuse it.',
    );
  }
  return ok(`${where} refuses requests without a signature.`);
}

/** Sends an unsigned GET for an object below the root. */
function askUnsigned(deps: DiagnoseDeps, { prefix }: KeyRoot) {
  const { ask, privateStore, randomness } = deps;
  return withProbe(deps, privateStore, `${prefix}probe-${randomness.id()}`, (url) => {
    const unsigned = new URL(url);
    unsigned.search = '';
    return askSurely(ask, unsigned.href);
  });
}

async function checkErasure({ privateStore }: DiagnoseDeps): Promise<Finding> {
  const keepsVersions = await privateStore.keepsVersions();
  if (keepsVersions === false) {
    return ok('The store keeps no old versions, so deleted objects are gone.');
  }
  if (keepsVersions === undefined) {
    return warning(
      'The store does not report whether it keeps old versions of deleted objects.',
      'Allow s3:GetBucketVersioning, and run this command again.',
    );
  }
  return warning(
    `${privateStore.location} keeps versions: erased accounts and messages stay readable as old versions.`,
    'Use a bucket without versioning, or a lifecycle rule that expires old versions.',
  );
}

/** Checks that a service can save its catalogs: while the store is down, a service starts from the saved catalogs. */
async function checkSavedCatalogs({ findSaveProblem }: DiagnoseDeps): Promise<Finding> {
  const problem = await findSaveProblem();
  if (problem === undefined) return ok('A service here can save its catalogs in DATA_DIR.');
  return warning(
    `A service here cannot save its catalogs, and could not start while the store is down: ${problem}.`,
    'Set DATA_DIR to a directory that the service may write.',
  );
}

async function checkSpace({ readSpace }: DiagnoseDeps): Promise<Finding> {
  if (readSpace === undefined) return skipped('A bucket does not report its free space.');
  const { free, total } = await readSpace();
  const sentence = `${inGigabytes(free)} of ${inGigabytes(total)} are free.`;
  const remedy =
    'Free space: "slipway gc" removes files that no release needs, and "slipway channels set stable --keep 10" keeps only the newest releases.';
  if (free < FREE_BYTES_MIN) return failed(sentence, remedy);
  return free < FREE_BYTES_WARNING ? warning(sentence, remedy) : ok(sentence);
}

const inGigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
