import { createHash } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import type { createCarriedHashes } from './carried-hashes.ts';
import { type CopiedObject, isKept, type Lane } from './copy-plan.ts';
import { type CopyDeps, type CopyProblem, corruptProblem, patiently } from './copy-side.ts';

/** Copies the documents of one sequence, and checks them. */

export interface Copied {
  readonly written: readonly CopiedObject[];
  /** The objects that the source has deleted since the listing. */
  readonly gone: readonly CopiedObject[];
  /** Signed documents that no manifest names: their publish is not finished. */
  readonly unnamed: readonly CopiedObject[];
  readonly problems: readonly CopyProblem[];
}

/** The results so far. The lanes add their results. */
interface Progress {
  readonly written: CopiedObject[];
  readonly gone: CopiedObject[];
  readonly unnamed: CopiedObject[];
  readonly problems: CopyProblem[];
  /** Adds the number of bytes that the target took, or that the copy does not have to write. */
  add(bytes: number): void;
  /** True when a lane has failed. All lanes then begin no further object. */
  hasFailed: boolean;
}

export interface CopyContext {
  readonly deps: CopyDeps;
  readonly progress: Progress;
  readonly carried: ReturnType<typeof createCarriedHashes>;
}

/** A corrupt document of a lane. The copy writes it only when a later document of the lane names it. */
interface Held {
  readonly object: CopiedObject;
  readonly corrupt: string;
  readonly sha256: string | null;
}

/** Copies one document after the other, and reads the next document during each write. */
export async function copyLane(context: CopyContext, lane: Lane): Promise<void> {
  const { deps, progress } = context;
  const read = (object: CopiedObject | undefined) => {
    const reading = object && patiently(deps, () => readOne(context, object));
    // Avoids an unhandled rejection: the loop awaits this read later, or never after another failure.
    reading?.catch(() => undefined);
    return reading;
  };
  let held: Held[] = [];
  let next = read(lane[0]);
  for (const [index, object] of lane.entries()) {
    const document = await next;
    next = read(lane[index + 1]);
    if (progress.hasFailed) return;
    progress.add(object.size);
    if (document === 'unnamed') progress.unnamed.push(object);
    else if (document === undefined) noteGone(context, object);
    else if ('corrupt' in document) held.push({ object, ...document });
    else {
      for (const each of held) await copyHeld(context, each, document.skipped);
      held = [];
      await write(context, object, document.bytes);
    }
  }
  for (const each of held) progress.problems.push(corruptProblem(deps, each.object, each.corrupt));
}

async function readOne({ deps, carried }: CopyContext, object: CopiedObject) {
  const { from, readDocument } = deps;
  if (object.kind !== 'carried') return readDocument(from.store, object);
  const sha256 = await carried.of(object);
  return sha256 === undefined ? ('unnamed' as const) : readDocument(from.store, object, sha256);
}

function noteGone({ deps, progress }: CopyContext, object: CopiedObject): void {
  if (!isKept(object)) {
    progress.gone.push(object);
    return;
  }
  throw new AppError(
    'store_unavailable',
    `${deps.from.name} listed ${object.key}, and does not have it now. Slipway never deletes such an object: find out which program did.`,
  );
}

/**
 * Copies a corrupt document unchanged when the next sound document names its hash. The hash shows that an operator
 * allowed readers to skip the corrupt document.
 */
async function copyHeld(
  context: CopyContext,
  { object, corrupt, sha256 }: Held,
  skipped: readonly { readonly number: number; readonly sha256: string | null }[],
): Promise<void> {
  const { deps, progress } = context;
  const isNamed = skipped.some(
    (each) => sha256 !== null && each.number === object.number && each.sha256 === sha256,
  );
  const bytes = isNamed ? (await deps.from.store.get(object.key))?.body : undefined;
  if (bytes !== undefined && createHash('sha256').update(bytes).digest('hex') === sha256) {
    await write(context, object, bytes);
  } else progress.problems.push(corruptProblem(deps, object, corrupt));
}

async function write(
  { deps, progress }: CopyContext,
  object: CopiedObject,
  bytes: Uint8Array,
): Promise<void> {
  const { to, createDocument } = deps;
  const { key } = object;
  const outcome = await patiently(deps, () => createDocument(key, bytes));
  if (outcome === 'exists') {
    // An earlier attempt may have created the document, or another copy that runs now.
    const there = (await to.store.get(key))?.body;
    if (there === undefined || Buffer.compare(there, bytes) !== 0) {
      throw new AppError(
        'store_differs',
        `${key} was created in ${to.name} during the copy, with different bytes. Stop the program that writes there.`,
      );
    }
  }
  progress.written.push(object);
}
