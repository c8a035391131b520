import { checkSameStore, refuseOtherPrivate } from './check-same-store.ts';
import { compareObjects } from './compare-objects.ts';
import type { Copied } from './copy-lane.ts';
import { copyObjects } from './copy-objects.ts';
import {
  type CopiedObject,
  type Foreign,
  isKept,
  isPrivate,
  type Listing,
  lastNumbers,
  ownerOf,
  planCopy,
  stagesOf,
} from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, listSide, storeDiffers } from './copy-side.ts';
import { addLate, findGaps } from './find-gaps.ts';
import { findLost } from './find-lost.ts';
import { deleteObjects, findUnused, hasPrivate, pruneCopy } from './prune-copy.ts';
import { isUnsure } from './unsure-pairs.ts';

interface CopyRequest {
  /** True: the copy also reads and compares every object that both sides have. */
  readonly deep: boolean;
  /** True: the copy also deletes from the target the objects that the source has erased or cleaned up. */
  readonly prune: boolean;
  readonly isDryRun: boolean;
}

export interface CopyResult extends Copied {
  /** Objects that are missing at the target, in the order of copying. A dry run copies none of them. */
  readonly missing: readonly CopiedObject[];
  /** The number of objects that both sides had. */
  readonly unchanged: number;
  /** Objects that only the target has, and keeps. */
  readonly extra: readonly CopiedObject[];
  readonly pruned: readonly CopiedObject[];
  /**
   * Private objects that the copy wrote, and that the target may have erased earlier: the target had private data, but
   * no object of their sequence. In a dry run, the objects that a copy would write.
   */
  readonly maybeErased: readonly CopiedObject[];
  /** True when `prune` was requested, and the copy deleted nothing because of the problems. */
  readonly isPruneHeld: boolean;
  /** True when the source has accounts, sessions, messages or counts. */
  readonly hasPrivate: boolean;
  /** True when the source has releases. */
  readonly hasReleases: boolean;
  /** The objects of the source that no part of this program writes. */
  readonly foreign: Foreign;
}

/**
 * Copies a store into an empty one, or into an earlier copy of it.
 *
 * Other programs may write to the source meanwhile. The copy has the sequences that the first listing shows, and every
 * object that they name. After an interruption, no object at the target names a missing object.
 *
 * @throws AppError `store_differs` before anything is written; `document_newer`
 */
export async function copyStore(deps: CopyDeps, request: CopyRequest): Promise<CopyResult> {
  // Lists the target before the source, so an earlier copy never seems to have more objects than the source.
  const target = await listSide(deps, deps.to, deps.passes.target);
  const source = await addLate(deps, await listSide(deps, deps.from, deps.passes.source));
  const { problems: named, ...proof } = await checkSameStore(deps, source, target);
  const { common, extra, stages } = planCopy(source, target);
  const pairs = request.deep ? common : common.filter((pair) => isUnsure(pair, proof));
  const compared = await compareObjects(deps, source, pairs, 'comparing', proof);
  refuseConflicts(deps, compared.conflicts);
  refuseOtherPrivate(deps, proof, common, new Set(compared.conflicts.map(({ key }) => key)));
  const problems = new Map([...named, ...compared.problems].map((each) => [each.key, each]));
  const gaps = findGaps(deps, source, extra);
  for (const each of [...gaps, ...lostNumbers(deps, source, extra)]) problems.set(each.key, each);
  const lost = await findLost(deps, source, target);

  const replaced = new Set(compared.conflicts.map(ownerOf));
  const isReplaced = (object: CopiedObject) => isPrivate(object) && replaced.has(ownerOf(object));
  const first = stages.map((lanes) => lanes.filter((lane) => !lane.some(isReplaced)));
  const facts = {
    missing: first.flat(2),
    unchanged: common.length,
    foreign: source.foreign,
    hasPrivate: hasPrivate(source),
    hasReleases: ![...source.objects.values()].every(isPrivate),
  };
  const nothing = { written: [], gone: [], unnamed: [], pruned: [], isPruneHeld: false };
  const heldBack = [...replaced].map((owner) => replacedProblem(deps, owner));
  if (request.isDryRun) {
    const found = [...problems.values(), ...(request.prune ? [] : heldBack), ...lost];
    const maybeErased = maybeErasedIn(target, facts.missing);
    return { ...facts, ...nothing, maybeErased, extra, problems: distinct(found) };
  }
  const copied = await copyObjects(deps, source, first);
  const maybeErased = maybeErasedIn(target, copied.written);
  const sofar = [...problems.values(), ...copied.problems];
  if (!request.prune || sofar.length > 0) {
    // A target without the newest catalog does not show the files that releases still need, so the copy looks for
    // unused files only when it found no problem.
    const unused = sofar.length > 0 ? undefined : await findUnused(deps, extra);
    const found = distinct([...sofar, ...heldBack, ...lost, ...(unused?.problems ?? [])]);
    const rest = { extra, pruned: [], isPruneHeld: request.prune };
    return { ...facts, ...copied, ...rest, maybeErased, problems: found };
  }
  const pruned = merge(copied, await prune(deps, { source, target, extra, isReplaced }));
  const found = distinct([...lost, ...pruned.problems]);
  return { ...facts, isPruneHeld: false, ...pruned, maybeErased, problems: found };
}

/** Keeps the first problem of each object. */
function distinct(problems: readonly CopyProblem[]): readonly CopyProblem[] {
  return [...new Map(problems.toReversed().map((each) => [each.key, each])).values()].toReversed();
}

/**
 * The written objects that the target may have erased earlier. End markers do not count, because they restore no data.
 * Objects of a sequence that the target has do not count, because the target did not erase this sequence.
 */
function maybeErasedIn(target: Listing, written: readonly CopiedObject[]): readonly CopiedObject[] {
  if (!hasPrivate(target)) return [];
  const known = new Set([...target.objects.values()].map(({ sequence }) => sequence));
  return written.filter(
    (object) => isPrivate(object) && object.kind !== 'end' && !known.has(object.sequence),
  );
}

function refuseConflicts({ from, to }: CopyDeps, conflicts: readonly CopiedObject[]): void {
  const first = conflicts.find((object) => !isPrivate(object));
  if (first === undefined) return;
  throw storeDiffers(
    `${to.name} and ${from.name} both have ${first.key}, with different contents: ${to.name} is a different store, or both were changed since they were one.`,
  );
}

/** Finds the documents that the source has lost: a store never deletes them, and only the target has them. */
function lostNumbers(
  { from, to }: CopyDeps,
  source: Listing,
  extra: readonly CopiedObject[],
): readonly CopyProblem[] {
  const last = lastNumbers(source);
  return extra
    .filter((object) => isKept(object) && object.number <= (last.get(object.sequence) ?? 0))
    .map(({ key }) => ({
      key,
      detail: `${key} is missing in ${from.name}. ${to.name} still has it: copy it back from there.`,
    }));
}

function replacedProblem({ from, to }: CopyDeps, owner: string): CopyProblem {
  return {
    key: owner,
    detail: `${owner} was erased in ${from.name} and created again, and ${to.name} has the erased one. Nothing below it was copied. Add --prune to replace it.`,
  };
}

interface Prunable {
  readonly source: Listing;
  readonly target: Listing;
  readonly extra: readonly CopiedObject[];
  readonly isReplaced: (object: CopiedObject) => boolean;
}

/** Deletes before it copies, so no account has documents of the erased account and of the new account at once. */
async function prune(
  deps: CopyDeps,
  { source, target, extra, isReplaced }: Prunable,
): Promise<Pick<CopyResult, 'pruned' | 'extra'> & Copied> {
  const old = [...target.objects.values()].filter(isReplaced);
  const rest = extra.filter((object) => !isReplaced(object));
  const { deleted, problems } = await pruneCopy(deps, source, rest);
  await deleteObjects(deps, old);
  const fresh = [...source.objects.values()].filter(isReplaced);
  const copied = await copyObjects(deps, source, stagesOf(fresh));
  const gone = new Set(deleted);
  return {
    ...copied,
    problems: [...problems, ...copied.problems],
    pruned: [...deleted, ...old],
    extra: rest.filter((object) => !gone.has(object)),
  };
}

function merge<T extends Copied>(first: Copied, second: T): T & Copied {
  return {
    ...second,
    written: [...first.written, ...second.written],
    gone: [...first.gone, ...second.gone],
    unnamed: [...first.unnamed, ...second.unnamed],
    problems: [...first.problems, ...second.problems],
  };
}
