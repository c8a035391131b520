import pLimit from 'p-limit';
import { copyArtifact } from '../../catalog/writing/copy-artifact.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { createCarriedHashes } from './carried-hashes.ts';
import { type Copied, type CopyContext, copyLane } from './copy-lane.ts';
import { type CopyPlan, type Lane, type Listing, tallyOf } from './copy-plan.ts';
import { type CopyDeps, corruptProblem, patiently, REQUESTS_MAX } from './copy-side.ts';

/** Copies objects in the order of a plan. */

/**
 * Copies stage after stage. A stage begins when the preceding stage is complete, so no copied object names a missing
 * object.
 *
 * After a failure, the target keeps the copied objects, and the next copy continues.
 *
 * @throws AppError `store_differs` when another program created an object with other bytes meanwhile; `document_newer`
 */
export async function copyObjects(
  deps: CopyDeps,
  source: Listing,
  stages: CopyPlan['stages'],
): Promise<Copied> {
  const { bytes: total } = tallyOf(stages.flat(2));
  let done = 0;
  const progress: CopyContext['progress'] = {
    written: [],
    gone: [],
    unnamed: [],
    problems: [],
    hasFailed: false,
    add: (bytes) => {
      done += bytes;
      deps.onProgress('copying', done, total, 'bytes');
    },
  };
  const context = { deps, progress, carried: createCarriedHashes(deps, source) };
  for (const lanes of stages) {
    try {
      await copyStage(context, lanes);
    } catch (error) {
      throw withAdvice(error, progress, stages);
    }
  }
  return progress;
}

/** Waits for all lanes, even after a failure, so no write happens after this function has returned. */
async function copyStage(context: CopyContext, lanes: readonly Lane[]): Promise<void> {
  const limit = pLimit(REQUESTS_MAX);
  const { progress } = context;
  const results = await Promise.allSettled(
    lanes.map((lane) =>
      limit(async () => {
        if (progress.hasFailed) return;
        try {
          await (lane[0]?.kind === 'artifact' ? copyFiles(context, lane) : copyLane(context, lane));
        } catch (error) {
          progress.hasFailed = true;
          throw error;
        }
      }),
    ),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function copyFiles({ deps, progress }: CopyContext, lane: Lane): Promise<void> {
  for (const object of lane) {
    const { key, size, sha256 = '' } = object;
    let reported = 0;
    const report = (bytes: number): void => {
      progress.add(bytes - reported);
      reported = bytes;
    };
    const { from, to } = deps;
    const outcome = await patiently(deps, () =>
      copyArtifact(from.store, to.store, { key, size, sha256 }, report),
    );
    report(size);
    if (outcome === 'gone') progress.gone.push(object);
    else if (outcome !== 'corrupt') progress.written.push(object);
    else progress.problems.push(corruptProblem(deps, object, `${key} does not match its hash.`));
  }
}

function withAdvice(
  error: unknown,
  { written }: CopyContext['progress'],
  stages: CopyPlan['stages'],
): unknown {
  if (!isAppError(error)) return error;
  const count = `${written.length} of ${stages.flat(2).length}`;
  const advice = `Before that, ${count} objects were copied. They stay: run the same command again, and it continues.`;
  return new AppError(error.code, `${error.message} ${advice}`, { cause: error });
}
