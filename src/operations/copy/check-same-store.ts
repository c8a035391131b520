import { AppError } from '../../errors.ts';
import { compareObjects } from './compare-objects.ts';
import {
  type CopiedObject,
  compareTags,
  findLater,
  isPrivate,
  type Listing,
  type Pair,
} from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, storeDiffers } from './copy-side.ts';

/** Whether the target of a copy is empty, or an earlier copy of the source. */

/** How many of the common objects are read when no revision proves that both sides are the same store. */
const SAMPLES_MAX = 8;

/**
 * Refuses a target that is another store, or a later state of the source. Writes nothing.
 *
 * Compares the newest revision that both have. Each revision has the digest of the one before it, so all earlier ones
 * are equal as well.
 *
 * @returns `tags`: whether the ETags of the two stores can be compared, because those of equal bytes are equal
 * @throws AppError `store_differs`; `invalid_configuration` for a source without a store; the stores'
 */
export async function checkSameStore(
  deps: CopyDeps,
  source: Listing,
  target: Listing,
): Promise<Pick<Named, 'tags' | 'problems'>> {
  refuseEmpty(deps, source);
  if (target.objects.size === 0) {
    refuseForeign(deps, target);
    return { tags: true, problems: [] };
  }
  refuseOtherKind(deps, source, target);
  const later = findLater(source, target);
  const named = newestCommon(source, target);
  // First, because both may have changed since the copy: the error then names the revision that differs.
  const { isProven, ...found } = await compareNamed(deps, source, target, named);
  if (later !== undefined) throw laterState(deps, later);
  if (!isProven) await refuseUnrelated(deps, source, target);
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

/** A backup of the releases and one of the private bucket must not be mixed up. */
function refuseOtherKind({ from, to }: CopyDeps, source: Listing, target: Listing): void {
  const [here, there] = [source, target].map(({ objects }) => {
    const all = [...objects.values()];
    return { isPrivate: all.some(isPrivate), isPublic: !all.every(isPrivate) };
  });
  if (there?.isPublic && !here?.isPublic) {
    throw storeDiffers(`${to.name} has releases, and ${from.name} has only private data.`);
  }
  if (there?.isPrivate && !there.isPublic && !here?.isPrivate) {
    throw storeDiffers(`${to.name} has only private data, and ${from.name} has none.`);
  }
}

/** Of each catalog and of the list of applications: the pairs of documents that both have, the newest first. */
function newestCommon(source: Listing, target: Listing): readonly (readonly Pair[])[] {
  const pairs = new Map<string, Pair[]>();
  for (const object of target.objects.values()) {
    if (object.kind !== 'revision' && object.kind !== 'application list') continue;
    const here = source.objects.get(object.key);
    if (here === undefined) continue;
    const pair = { source: here, target: object };
    pairs.set(object.sequence, [...(pairs.get(object.sequence) ?? []), pair]);
  }
  return [...pairs.values()].map((all) => all.sort((a, b) => b.source.number - a.source.number));
}

interface Named {
  readonly tags: boolean;
  /** Whether a document that both have is the same. */
  readonly isProven: boolean;
  readonly problems: readonly CopyProblem[];
}

async function compareNamed(
  deps: CopyDeps,
  source: Listing,
  target: Listing,
  named: readonly (readonly Pair[])[],
): Promise<Named> {
  const heads = named.flatMap(([head]) => (head === undefined ? [] : [head]));
  // One pair with equal bytes and different tags shows that tags cannot be compared: a store may encrypt, for example.
  const [sample] = heads;
  const shouldRead = sample !== undefined && compareTags(sample) === false;
  const unsure = heads.filter((pair) => compareTags(pair) !== true);
  const found = await compareObjects(deps, source, unsure, 'comparing catalogs');
  const [differing] = found.conflicts;
  if (differing !== undefined) throw await otherStore(deps, source, target, differing);
  const corrupt = new Set(found.problems.map(({ key }) => key));
  const isProven = heads.some((pair) => !corrupt.has(pair.source.key));
  const tags = !(shouldRead && !corrupt.has(sample.source.key));
  return { tags, isProven, problems: found.problems };
}

/** The error for different catalogs. It says whether both began as one store. */
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

/** For a target without a revision: an interrupted copy, or private data. At least one object in it must be equal. */
async function refuseUnrelated(deps: CopyDeps, source: Listing, target: Listing): Promise<void> {
  const common = [...target.objects.values()].flatMap((object) => {
    const here = source.objects.get(object.key);
    return here === undefined ? [] : [{ source: here, target: object }];
  });
  // An artifact's key has the hash of its bytes.
  if (common.some(({ source: { kind } }) => kind === 'artifact')) return;
  const samples = common.slice(0, SAMPLES_MAX);
  const found = await compareObjects(deps, source, samples, 'comparing');
  if (found.conflicts.length + found.problems.length < samples.length) return;
  throw storeDiffers(`${deps.to.name} has nothing in common with ${deps.from.name}.`);
}
