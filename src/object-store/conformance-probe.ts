import type { Clock, Randomness } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import { conformanceProbeKeys, verdictKey } from './keys.ts';
import type { ObjectStore } from './object-store.ts';

const RACERS = 32;
const VERDICT_BYTES_MAX = 64 * 1024;
const SCHEMA_VERSION = 1;

export interface Verdict {
  readonly conforming: boolean;
  /** Sentences, one for each behaviour that was wrong. */
  readonly findings: readonly string[];
}

interface ProbeDeps {
  readonly store: ObjectStore;
  readonly randomness: Randomness;
}

/**
 * Tests on the store itself that only one writer can create a key: first in turn, then with 32 writers at once.
 *
 * The race finds what the sequential tests do not: a versioned bucket on Ceph RGW passes those and lets
 * every writer of the race win. Works below `probe/` and removes what it wrote.
 *
 * @throws AppError the store's, when it cannot be reached
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
 * Probes the store, unless a good verdict about it is stored. With `fresh` it always probes.
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
  const { conforming, findings } = await probeConformance(deps);
  if (!conforming) {
    throw new AppError(
      'store_nonconforming',
      `${store.location} cannot be used, because two writers could both believe they had made a change: ${findings.join(' ')} Known for this are Google Cloud Storage through its S3 interface, which ignores the condition (If-None-Match), and versioned buckets on Ceph RGW; Backblaze B2 and Garage refuse it. Use an unversioned bucket there, or another store such as AWS S3, Cloudflare R2 or MinIO.`,
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
      typeof verdict === 'object' &&
      verdict !== null &&
      'location' in verdict &&
      verdict.location === store.location &&
      'schema_version' in verdict &&
      verdict.schema_version === SCHEMA_VERSION
    );
  } catch {
    // Treats a corrupt verdict as none: the store is probed again.
    return false;
  }
}

async function probeInTurn(store: ObjectStore, key: string, missing: string): Promise<string[]> {
  const findings: string[] = [];
  if ((await store.get(missing)) !== undefined) {
    findings.push('An object that was never created could be read.');
  }
  const [first, second] = [Buffer.from('first'), Buffer.from('second')];
  if ((await createKnown(store, key, first)) !== 'created') {
    findings.push('A new key was answered as taken.');
  }
  if ((await createKnown(store, key, second)) !== 'exists') {
    findings.push('A second object could be created under a key that was taken.');
  }
  const stored = await store.get(key);
  if (stored === undefined || !first.equals(stored.body)) {
    findings.push('What was read back is not what was created first.');
  }
  return findings;
}

async function probeRace(store: ObjectStore, key: string): Promise<string[]> {
  const bodies = Array.from({ length: RACERS }, (_, index) => Buffer.from(`racer ${index}`));
  const outcomes = await Promise.all(
    bodies.map((body) =>
      store.create(key, body).catch((error: unknown) => {
        // Some stores answer a lost race with a server error; the stored object then names the winner.
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
      return [`Of ${RACERS} writers racing for one key none left an object.`];
    }
    throw new AppError(
      'store_unavailable',
      `${store.location} failed every one of ${RACERS} concurrent writes. Try again.`,
    );
  }
  const winners = bodies.filter((_, index) => outcomes[index] === 'created');
  if (winners.length > 1) {
    return [`Of ${RACERS} writers racing for one key ${winners.length} were told they had won.`];
  }
  const [winner] = winners;
  if (winner !== undefined && !winner.equals(stored.body)) {
    return ['The writer that won a race for a key is not the one whose bytes are stored.'];
  }
  return [];
}

/** Creates the object; after an unclear answer, repeats the write and reads what is stored. */
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
