import { AppError } from '../../core/errors.ts';
import type { CopyKind } from '../../core/key-facts.ts';
import { compareObjects } from './compare-objects.ts';
import { type CopiedObject, findLater, isPrivate, type Listing, type Pair } from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, storeDiffers } from './copy-side.ts';
import { compareTags, mayBeReplaced, type Proof } from './unsure-pairs.ts';

/** Checks that the target of a copy is empty, or an earlier copy of the source. */

/**
 * Refuses a target that is another store, or a later state of the source. Writes nothing.
 *
 * Compares the newest revision that both sides have. Each revision has the digest of its predecessor, so equal
 * revisions have equal predecessors. Without an equal revision, the caller compares every document that both sides
 * have.
 *
 * @throws AppError `store_differs`; `invalid_configuration` for a source without a store
 */
export async function checkSameStore(
  deps: CopyDeps,
  source: Listing,
  target: Listing,
): Promise<Named> {
  refuseEmpty(deps, source);
  if (target.objects.size === 0) {
    refuseForeign(deps, target);
    return { tags: true, provenAt: new Map(), problems: [] };
  }
  refuseOtherKind(deps, source, target);
  const later = findLater(source, target);
  const named = newestCommon(source, target);
  // Compares before it refuses a later state. When both sides have changed since the copy, the error then names the
  // revision that differs.
  const found = await compareNamed(deps, source, target, named);
  if (later !== undefined) throw laterState(deps, later);
  if (found.provenAt.size === 0) refuseUnrelated(deps, source, target);
  return found;
}

function refuseEmpty({ from }: CopyDeps, { objects, foreign }: Listing): void {
  if (objects.size > 0) return;
  const instead = foreign.count === 0 ? '' : ` It has other objects, such as ${foreign.first}.`;
  throw new AppError(
    'invalid_configuration',
    `There is no store in ${from.name}: it has no releases, accounts or messages.${instead} Check the bucket and the prefix, or the directory: it must be a DATA_DIR.`,
  );
}

function refuseForeign({ to }: CopyDeps, { foreign }: Listing): void {
  if (foreign.count === 0) return;
  throw storeDiffers(
    `${to.name} has objects that Slipway does not write, such as ${foreign.first}.`,
  );
}

/** Refuses to mix a backup of the releases with a backup of the private bucket. */
function refuseOtherKind({ from, to }: CopyDeps, source: Listing, target: Listing): void {
  const here = kindsIn(source);
  const there = kindsIn(target);
  if (there.isPublic && !here.isPublic) {
    throw storeDiffers(`${to.name} has releases, and ${from.name} has only private data.`);
  }
  if (there.isPrivate && !there.isPublic && !here.isPrivate) {
    throw storeDiffers(`${to.name} has only private data, and ${from.name} has none.`);
  }
}

function kindsIn({ objects }: Listing) {
  const all = [...objects.values()];
  return { isPrivate: all.some(isPrivate), isPublic: !all.every(isPrivate) };
}

/** The pairs of documents that both sides have, the newest first, for each catalog and for the list of applications. */
function newestCommon(source: Listing, target: Listing): readonly (readonly Pair[])[] {
  const pairs = [...target.objects.values()].flatMap((object): Pair[] => {
    if (object.kind !== 'revision' && object.kind !== 'application list') return [];
    const here = source.objects.get(object.key);
    return here === undefined ? [] : [{ source: here, target: object }];
  });
  return [...Map.groupBy(pairs, (pair) => pair.source.sequence).values()].map((all) =>
    all.sort((a, b) => b.source.number - a.source.number),
  );
}

interface Named extends Proof {
  readonly problems: readonly CopyProblem[];
}

async function compareNamed(
  deps: CopyDeps,
  source: Listing,
  target: Listing,
  named: readonly (readonly Pair[])[],
): Promise<Named> {
  const heads = named.flatMap(([head]) => (head === undefined ? [] : [head]));
  // A pair with equal bytes and different ETags shows that the copy cannot compare ETags. A store that encrypts has
  // such ETags, for example.
  const [sample] = heads;
  const shouldRead = sample !== undefined && compareTags(sample) === false;
  const unsure = heads.filter((pair) => compareTags(pair) !== true);
  const found = await compareObjects(deps, source, unsure, 'comparing catalogs');
  const [differing] = found.conflicts;
  if (differing !== undefined) throw await otherStore(deps, source, target, differing);
  const corrupt = new Set(found.problems.map(({ key }) => key));
  const provenAt = new Map<string, number>();
  for (const { source: head, target: there } of heads) {
    if (head.application === undefined || corrupt.has(head.key)) continue;
    provenAt.set(head.application, there.lastModified.getTime());
  }
  const tags = !(shouldRead && !corrupt.has(sample.source.key));
  return { tags, provenAt, problems: found.problems };
}

/** The error for different catalogs. Its message says whether both sides began as one store. */
async function otherStore(
  deps: CopyDeps,
  source: Listing,
  target: Listing,
  differing: CopiedObject,
): Promise<AppError> {
  const { from, to } = deps;
  const all = newestCommon(source, target).find(([pair]) => pair?.source.key === differing.key);
  const earliest = all?.at(-1);
  const isEarliest = earliest === undefined || earliest.source.key === differing.key;
  const isOther =
    isEarliest ||
    (await compareObjects(deps, source, [earliest], 'comparing catalogs')).conflicts.length > 0;
  if (isOther) {
    return storeDiffers(
      `${to.name} is a different store from ${from.name}: both have ${differing.key}, with different contents.`,
    );
  }
  return storeDiffers(
    `${to.name} and ${from.name} began as one store, and both were changed since then: both have ${differing.key}, with different contents.`,
  );
}

function laterState({ from, to }: CopyDeps, { key }: CopiedObject): AppError {
  return storeDiffers(
    `${to.name} has ${key}, and ${from.name} does not: it is a later state of this store, or a different store. An older state cannot be restored over a later one.`,
  );
}

/** Refuses a target that has no object in common with the source. Even an interrupted copy has a common object. */
function refuseUnrelated({ from, to }: CopyDeps, source: Listing, target: Listing): void {
  for (const key of target.objects.keys()) if (source.objects.has(key)) return;
  throw storeDiffers(`${to.name} has nothing in common with ${from.name}.`);
}

/** The kinds of objects that different stores may have in common: their bytes do not identify a store. */
const COMMON_KINDS: readonly CopyKind[] = ['artifact', 'end', 'open marker'];

/**
 * Refuses the private data of another store, when no revision proves that both sides are the same store. Common keys do
 * not prove it, because an e-mail address has the same key in every store.
 *
 * @param conflicts the keys of the pairs that differ
 * @throws AppError `store_differs`
 */
export function refuseOtherPrivate(
  { from, to }: CopyDeps,
  { provenAt }: Proof,
  common: readonly Pair[],
  conflicts: ReadonlySet<string>,
): void {
  if (provenAt.size > 0 || conflicts.size === 0) return;
  const differing = common.filter(({ source }) => conflicts.has(source.key));
  const other = differing.find((pair) => !mayBeReplaced(pair));
  const telling = common.filter(({ source }) => !COMMON_KINDS.includes(source.kind));
  const isAllOther = telling.every(({ source }) => conflicts.has(source.key));
  const first = other ?? (isAllOther ? differing[0] : undefined);
  if (first === undefined) return;
  throw storeDiffers(
    `${to.name} is a different store from ${from.name}: both have ${first.source.key}, with different contents.`,
  );
}
