import { setImmediate } from 'node:timers/promises';
import type { Steps } from './steps.ts';

/** Lets the event loop handle other events. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
}

/** Runs the steps and lets the event loop handle other events after each step. */
export async function runInTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
