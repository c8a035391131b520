import { checkSameStore } from './check-same-store.ts';
import { compareObjects } from './compare-objects.ts';
import type { Copied } from './copy-lane.ts';
import { copyObjects } from './copy-objects.ts';
import {
  type CopiedObject,
  type Foreign,
  isKept,
  isPrivate,
  isUnsure,
  type Listing,
  lastNumbers,
  ownerOf,
  planCopy,
  stagesOf,
} from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, listSide, storeDiffers } from './copy-side.ts';
import { deleteObjects, hasPrivate, pruneCopy } from './prune-copy.ts';

interface CopyRequest {
  /** Also reads and compares everything that both sides have. */
  readonly deep: boolean;
  /** Also deletes from the target what the source has erased or cleaned up. */
  readonly prune: boolean;
  readonly isDryRun: boolean;
}

export interface CopyResult extends Copied {
  /** Objects that are missing at the target, in the order of copying. A dry run copies none of them. */
  readonly missing: readonly CopiedObject[];
  /** How many objects both sides had. */
  readonly unchanged: number;
  /** Objects that only the target has, and keeps. */
  readonly extra: readonly CopiedObject[];
  readonly pruned: readonly CopiedObject[];
  /** Whether nothing was pruned, because of the problems. */
  readonly isPruneHeld: boolean;
  /** Whether the source has accounts, sessions, messages or counts. */
  readonly hasPrivate: boolean;
  /** Whether it has releases. */
  readonly hasReleases: boolean;
  /** Of the source. */
  readonly foreign: Foreign;
}

/**
 * Copies a store into an empty one, or into an earlier copy of it.
 *
 * Other programs may write to the source meanwhile. The copy has the sequences as they were listed first, and every
 * object that they name. If it is interrupted, no object at the target names a missing one.
 *
 * @throws AppError `store_differs` before anything is written; `document_newer`; the stores'
 */
export async function copyStore(deps: CopyDeps, request: CopyRequest): Promise<CopyResult> {
  // The target first: an earlier copy of the source then never has more than the source.
  const target = await listSide(deps, deps.to, deps.passes.target);
  const source = await listSide(deps, deps.from, deps.passes.source);
  const { tags, problems: named } = await checkSameStore(deps, source, target);
  const { common, extra, stages } = planCopy(source, target);
  const pairs = request.deep ? common : common.filter((pair) => isUnsure(pair, tags));
  const compared = await compareObjects(deps, source, pairs, 'comparing');
  refuseConflicts(deps, compared.conflicts);
  const problems = new Map([...named, ...compared.problems].map((each) => [each.key, each]));
  for (const each of lostNumbers(deps, source, extra)) problems.set(each.key, each);

  const replaced = new Set(compared.conflicts.map(ownerOf));
  const isReplaced = (object: CopiedObject) => isPrivate(object) && replaced.has(ownerOf(object));
  const first = stages.map((lanes) => lanes.filter((lane) => !lane.some(isReplaced)));
  const facts = {
    ...{ missing: first.flat(2), unchanged: common.length, foreign: source.foreign },
    hasPrivate: hasPrivate(source),
    hasReleases: ![...source.objects.values()].every(isPrivate),
  };
  const nothing = { written: [], gone: [], unnamed: [], pruned: [], isPruneHeld: false };
  const heldBack = [...replaced].map((owner) => replacedProblem(deps, owner));
  if (request.isDryRun) {
    const found = [...problems.values(), ...(request.prune ? [] : heldBack)];
    return { ...facts, ...nothing, extra, problems: found };
  }
  const copied = await copyObjects(deps, source, first);
  const sofar = [...problems.values(), ...copied.problems];
  if (!request.prune || sofar.length > 0) {
    const isPruneHeld = request.prune;
    const found = [...sofar, ...heldBack];
    return { ...facts, ...copied, problems: found, extra, pruned: [], isPruneHeld };
  }
  const pruned = await prune(deps, { source, target, extra, isReplaced });
  return { ...facts, isPruneHeld: false, ...merge(copied, pruned) };
}

function refuseConflicts({ from, to }: CopyDeps, conflicts: readonly CopiedObject[]): void {
  const first = conflicts.find((object) => !isPrivate(object));
  if (first === undefined) return;
  throw storeDiffers(
    `${to.name} and ${from.name} both have ${first.key}, with different contents: ${to.name} is a different store, or both were changed since they were one.`,
  );
}

/** Documents that a store never deletes, and that only the target has. */
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

/** Deletes first, so that no account has documents of the old and of the new one. */
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
