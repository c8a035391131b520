import { setImmediate as nextRound } from 'node:timers/promises';
import type { Steps } from './steps.ts';

/**
 * The time after which long work lets the event loop handle other events, in milliseconds. All long work of the process
 * shares this time, so ten applications that change at once delay a request no longer than one of them. The last step
 * may exceed the time.
 */
const TURN_MS = 2;

/** Runs one step. Returns false when no step is left. */
type Job = () => boolean;

const jobs: Job[] = [];
let isPlanned = false;

/** Lets the event loop handle other events. */
export async function nextTurn(): Promise<void> {
  await nextRound();
}

/** Runs the steps, and lets the event loop handle other events after every few milliseconds. */
export function runInTurns<T>(steps: Steps<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const run: Job = () => {
      try {
        const step = steps.next();
        if (step.done === true) resolve(step.value);
        return step.done !== true;
      } catch (error) {
        reject(error);
        return false;
      }
    };
    jobs.push(run);
    planTurn();
  });
}

/** Runs one step of each job in turn, until the time is over. */
function takeTurn(): void {
  const end = performance.now() + TURN_MS;
  do {
    const job = jobs.shift();
    if (job?.() === true) jobs.push(job);
  } while (jobs.length > 0 && performance.now() < end);
  isPlanned = false;
  if (jobs.length > 0) planTurn();
}

function planTurn(): void {
  if (!isPlanned) setImmediate(takeTurn);
  isPlanned = true;
}
