import {
  applicationsKey,
  hintKey,
  manifestKey,
  revisionKey,
} from '../../catalog/documents/keys.ts';
import { type CopiedObject, isKept, type Listing } from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, patiently } from './copy-side.ts';

/** Finds documents that a store has lost: no program of Slipway deletes such documents. */

/** The missing numbers between two documents of a sequence, or before the first document. */
interface Gap {
  /** The first document after the gap. */
  readonly next: CopiedObject;
  readonly first: number;
  readonly count: number;
}

/**
 * Finds the documents that a source has lost: missing numbers below the highest number of a sequence, or all lists of
 * applications.
 *
 * @param extra the objects that only the target has. They are no gaps: `lostNumbers` reports them
 */
export function findGaps(
  { from }: Pick<CopyDeps, 'from'>,
  source: Listing,
  extra: readonly CopiedObject[],
): readonly CopyProblem[] {
  const gaps = gapsIn([...source.objects.values(), ...extra]);
  const problems = gaps.map(({ next, first, count }) => {
    const key = keyOf(next, first);
    const others = count === 1 ? 'is' : `and the ${count - 1} after it are`;
    return {
      key,
      detail: `${key} ${others} missing in ${from.name}, which has ${next.key}. Slipway never deletes such a document. Restore it from another backup.`,
    };
  });
  const all = [...source.objects.values()];
  const isListed = all.some(({ kind }) => kind === 'application list');
  if (isListed || !all.some(({ kind }) => kind === 'revision')) return problems;
  const key = applicationsKey(1);
  const why = `${from.name} has catalogs and no list of applications, so commands and services find no application: ${key} is missing.`;
  return [...problems, { key, detail: `${why} Restore it from another backup.` }];
}

/**
 * The longest gap, in documents, that `addLate` looks up. Publishers store fewer documents of a sequence during a
 * listing.
 */
const LATE_MAX = 16;

/**
 * Adds documents that publishers stored during a listing. A listing goes in the order of keys, so it may miss such a
 * document and contain a later one.
 */
export async function addLate(deps: CopyDeps, source: Listing): Promise<Listing> {
  const objects = new Map(source.objects);
  for (const { next, first, count } of gapsIn(objects.values())) {
    for (let number = first; count <= LATE_MAX && number < first + count; number++) {
      const key = keyOf(next, number);
      const info = await patiently(deps, () => deps.from.store.head(key));
      const facts = deps.factsOf(key);
      if (info !== undefined && facts !== undefined && facts !== 'passing') {
        objects.set(key, { ...info, ...facts });
      }
    }
  }
  return { ...source, objects };
}

function gapsIn(objects: Iterable<CopiedObject>): readonly Gap[] {
  const sequences = Map.groupBy([...objects].filter(isKept), ({ sequence }) => sequence);
  return [...sequences.values()].flatMap((all) => {
    let last = 0;
    const gaps: Gap[] = [];
    for (const next of all.sort((a, b) => a.number - b.number)) {
      const count = next.number - last - 1;
      if (count > 0) gaps.push({ next, first: last + 1, count });
      last = next.number;
    }
    return gaps;
  });
}

/** The key of another number of the same sequence. */
function keyOf({ kind, application = '', version = '' }: CopiedObject, number: number): string {
  if (kind === 'revision') return revisionKey(application, number);
  if (kind === 'manifest') return manifestKey(application, version, number);
  return kind === 'hint' ? hintKey(number) : applicationsKey(number);
}
