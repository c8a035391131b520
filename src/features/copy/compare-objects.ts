import pLimit from 'p-limit';
import { hashObject } from '../../catalog/writing/artifact-upload.ts';
import { isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { createCarriedHashes } from './carried-hashes.ts';
import type { CopiedObject, Listing, Pair } from './copy-plan.ts';
import {
  type CopyDeps,
  type CopyProblem,
  type CopySide,
  patiently,
  REQUESTS_MAX,
} from './copy-side.ts';
import { isProven, type Proof } from './unsure-pairs.ts';

/** Reads objects that both sides of a copy have, and compares them. */

interface Compared {
  /** The target's objects that are sound on both sides, but have other bytes than at the source. */
  readonly conflicts: readonly CopiedObject[];
  /** The objects that are corrupt on one side or on both. */
  readonly problems: readonly CopyProblem[];
}

type Verdict = 'equal' | 'conflict' | { readonly corrupt: string };

/**
 * Reads pairs of objects and compares their bytes.
 *
 * @param label the words for the progress
 * @param proof tells which pairs are proven. The function compares signed documents of a proven pair with the hash in
 *   the manifest, and signed documents of any other pair with each other. Without `proof`, it compares every pair with
 *   the hash
 * @throws AppError `document_newer`
 */
export async function compareObjects(
  deps: CopyDeps,
  source: Listing,
  pairs: readonly Pair[],
  label: string,
  proof?: Proof,
): Promise<Compared> {
  const limit = pLimit(REQUESTS_MAX);
  const carried = createCarriedHashes(deps, source);
  const conflicts: CopiedObject[] = [];
  const problems: CopyProblem[] = [];
  let done = 0;
  await Promise.all(
    pairs.map((pair) =>
      limit(async () => {
        const { key, kind } = pair.source;
        const verdict = await patiently(deps, async () => {
          if (kind === 'artifact') return compareFiles(deps, pair);
          const isHashed = kind === 'carried' && (proof === undefined || isProven(pair, proof));
          const sha256 = isHashed ? await carried.of(pair.source) : undefined;
          return compareDocuments(deps, pair, sha256);
        });
        if (verdict === 'conflict') conflicts.push(pair.target);
        else if (verdict !== 'equal') problems.push({ key, detail: verdict.corrupt });
        deps.onProgress(label, ++done, pairs.length, 'count');
      }),
    ),
  );
  return { conflicts, problems };
}

async function compareFiles(
  { from, to }: CopyDeps,
  { source: { key, sha256 = '' } }: Pair,
): Promise<Verdict> {
  const hash = ({ store }: CopySide) => hashUnlessGone(store, key, sha256);
  const [here, there] = await Promise.all([hash(from), hash(to)]);
  return verdictOf(
    key,
    { name: from.name, isSound: here === sha256, isThere: here !== undefined },
    { name: to.name, isSound: there === sha256, isThere: there !== undefined },
  );
}

/** Undefined: the file is gone. */
async function hashUnlessGone(
  store: ObjectStore,
  key: string,
  expected: string,
): Promise<string | undefined> {
  try {
    return await hashObject({ store }, key, expected);
  } catch (error) {
    if (isAppError(error, 'artifact_mismatch')) return undefined;
    throw error;
  }
}

async function compareDocuments(
  { from, to, readDocument }: CopyDeps,
  { source, target }: Pair,
  sha256: string | undefined,
): Promise<Verdict> {
  const [here, there] = await Promise.all([
    readDocument(from.store, source, sha256),
    readDocument(to.store, target, sha256),
  ]);
  if (here !== undefined && there !== undefined && 'bytes' in here && 'bytes' in there) {
    return Buffer.compare(here.bytes, there.bytes) === 0 ? 'equal' : 'conflict';
  }
  // An earlier copy also stored corrupt documents unchanged, when a later document named them.
  const hash = here !== undefined && 'corrupt' in here ? here.sha256 : null;
  const isSame = there !== undefined && 'corrupt' in there && there.sha256 === hash;
  if (hash !== null && isSame) return 'equal';
  return verdictOf(
    source.key,
    { name: from.name, isSound: isSound(here), isThere: here !== undefined },
    { name: to.name, isSound: isSound(there), isThere: there !== undefined },
  );
}

const isSound = (read: Awaited<ReturnType<CopyDeps['readDocument']>>): boolean =>
  read !== undefined && 'bytes' in read;

interface SideState {
  readonly name: string;
  readonly isSound: boolean;
  readonly isThere: boolean;
}

function verdictOf(key: string, from: SideState, to: SideState): Verdict {
  // An object that was deleted after the listing counts as equal.
  if (!from.isThere || !to.isThere || (from.isSound && to.isSound)) return 'equal';
  if (from.isSound) {
    return {
      corrupt: `${key} is corrupt in ${to.name}, and sound in ${from.name}. Delete it in ${to.name}, and run the same command again.`,
    };
  }
  const rest = to.isSound
    ? `sound in ${to.name}. Copy it back from there.`
    : `in ${to.name} as well. Restore it from another backup.`;
  return { corrupt: `${key} is corrupt in ${from.name}, and ${rest}` };
}
