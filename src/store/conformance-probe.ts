import type { Clock, Randomness } from '../core/clock.ts';
import { AppError, isAppError } from '../core/errors.ts';
import { isRecord } from '../core/json-record.ts';
import { conformanceProbeKeys, verdictKey } from './keys.ts';
import type { ObjectStore } from './object-store.ts';

const RACERS = 32;
const VERDICT_BYTES_MAX = 64 * 1024;
const SCHEMA_VERSION = 1;

interface Verdict {
  readonly conforming: boolean;
  /** One sentence for each wrong behavior. */
  readonly findings: readonly string[];
}

interface ProbeDeps {
  readonly store: ObjectStore;
  readonly randomness: Randomness;
}

/**
 * Tests on the store itself that only one writer can create a key: first with one write after another, then with 32
 * concurrent writers.
 *
 * The concurrent writes find faults that the sequential writes do not find: a versioned bucket on Ceph RGW passes the
 * sequential tests, and lets every concurrent writer succeed. Writes below `probe/`, and removes its objects.
 *
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function probeConformance({ store, randomness }: ProbeDeps): Promise<Verdict> {
  const keys = conformanceProbeKeys(randomness.id());
  try {
    const findings = [
      ...(await probeInTurn(store, keys.once, keys.missing)),
      ...(await probeRace(store, keys.race)),
    ];
    return { conforming: findings.length === 0, findings };
  } finally {
    await Promise.allSettled([keys.once, keys.race].map((key) => store.delete(key)));
  }
}

/**
 * Probes the store unless it already holds a good verdict. With `fresh`, always probes.
 *
 * @throws AppError `store_nonconforming` with the findings
 */
export async function ensureConforming(
  deps: ProbeDeps & { readonly clock: Clock; readonly fresh?: boolean },
): Promise<void> {
  const { store, clock } = deps;
  const key = verdictKey(store.location);
  if (deps.fresh !== true && (await holdsGoodVerdict(store, key))) {
    return;
  }
  const { conforming, findings } = await probeConformance(deps).catch((error: unknown) => {
    // The message below is about credentials. A directory store has none, and the message of its own error says what to
    // do.
    const isDenied = isAppError(error, 'store_denied') && store.identify === undefined;
    if (deps.fresh === true || !isDenied) throw error;
    throw new AppError(
      'store_denied',
      `${store.location} was not tested yet, and these credentials may not test it. An admin, whose credentials may write probe/, runs "slipway doctor" once with the same S3_ENDPOINT, S3_BUCKET and S3_PREFIX. ${error.message}`,
      { cause: error },
    );
  });
  if (!conforming) {
    throw new AppError(
      'store_nonconforming',
      `${store.location} cannot be used, because two writers could both create one object: ${findings.join(' ')} Google Cloud Storage (through its S3 interface), Wasabi and Garage ignore the condition of the write (If-None-Match), and versioned buckets on Ceph RGW ignore it in a race; Backblaze B2 refuses it. On Ceph RGW, use an unversioned bucket. Otherwise use another store, such as AWS S3, Cloudflare R2 or VersityGW.`,
    );
  }
  const verdict = {
    schema_version: SCHEMA_VERSION,
    location: store.location,
    checked_at: new Date(clock.now()).toISOString(),
    findings,
  };
  await store.create(key, Buffer.from(`${JSON.stringify(verdict, null, 2)}\n`), {
    contentType: 'application/json',
  });
}

async function holdsGoodVerdict(store: ObjectStore, key: string): Promise<boolean> {
  const stored = await store.get(key, { bytesMax: VERDICT_BYTES_MAX });
  if (stored === undefined) {
    return false;
  }
  try {
    const verdict: unknown = JSON.parse(Buffer.from(stored.body).toString());
    return (
      isRecord(verdict) &&
      verdict.location === store.location &&
      verdict.schema_version === SCHEMA_VERSION
    );
  } catch {
    // Treats a corrupt verdict as missing, so that the store is probed again.
    return false;
  }
}

async function probeInTurn(store: ObjectStore, key: string, missing: string): Promise<string[]> {
  const findings: string[] = [];
  if ((await store.get(missing)) !== undefined) {
    findings.push('The store returned an object that was never created.');
  }
  const first = Buffer.from('first');
  const second = Buffer.from('second');
  if ((await createKnown(store, key, first)) !== 'created') {
    findings.push('The store reported a new key as taken.');
  }
  if ((await createKnown(store, key, second)) !== 'exists') {
    findings.push('The store created a second object under a taken key.');
  }
  const stored = await store.get(key);
  if (stored === undefined || !first.equals(stored.body)) {
    findings.push('The store did not return the object that was created first.');
  }
  return findings;
}

async function probeRace(store: ObjectStore, key: string): Promise<string[]> {
  const bodies = Array.from({ length: RACERS }, (_, index) => Buffer.from(`racer ${index}`));
  const outcomes = await Promise.all(
    bodies.map((body) =>
      store.create(key, body).catch((error: unknown) => {
        // Some stores answer a lost race with a server error; the stored object then identifies the winner.
        if (isAppError(error, 'store_unavailable')) {
          return 'unclear' as const;
        }
        throw error;
      }),
    ),
  );
  const stored = await store.get(key);
  if (stored === undefined) {
    if (outcomes.includes('created') || outcomes.includes('exists')) {
      return [`After ${RACERS} concurrent writers of one key, the store holds no object.`];
    }
    throw new AppError(
      'store_unavailable',
      `${store.location} failed all ${RACERS} concurrent writes. Try again.`,
    );
  }
  const winners = bodies.filter((_, index) => outcomes[index] === 'created');
  if (winners.length > 1) {
    return [
      `The store told ${winners.length} of ${RACERS} concurrent writers of one key that they created it.`,
    ];
  }
  const [winner] = winners;
  if (winner !== undefined && !winner.equals(stored.body)) {
    return [
      'The store told one concurrent writer that it created the key, but holds the bytes of another.',
    ];
  }
  return [];
}

/** Creates the object. When the outcome is unknown, repeats the write and reads the stored bytes. */
async function createKnown(
  store: ObjectStore,
  key: string,
  body: Buffer,
): Promise<'created' | 'exists'> {
  try {
    return await store.create(key, body);
  } catch (error) {
    if (!isAppError(error, 'store_unavailable')) {
      throw error;
    }
    const again = await store.create(key, body);
    const stored = again === 'exists' ? await store.get(key) : undefined;
    return stored !== undefined && body.equals(stored.body) ? 'created' : again;
  }
}
