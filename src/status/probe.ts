import type { Clock } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ComponentStatus } from './report.ts';

/** What one probe found out. */
export interface Finding {
  readonly status: ComponentStatus;
  /** For anybody. */
  readonly description: string;
  /** For the log. */
  readonly error?: unknown;
}

const SLOW_MS = 2_000;

/**
 * Asks once. Undefined when it was stopped: that says nothing about what was asked.
 *
 * @param probe throws when what it asks does not work
 */
export async function runProbe(
  clock: Clock,
  stopping: AbortSignal,
  timeoutMs: number,
  probe: (signal: AbortSignal) => Promise<unknown>,
): Promise<Finding | undefined> {
  const begun = clock.now();
  try {
    await withTimeout(clock, stopping, timeoutMs, probe);
    return clock.now() - begun > SLOW_MS
      ? { status: 'degraded_performance', description: 'Answers slowly.' }
      : { status: 'operational', description: 'Answers.' };
  } catch (error) {
    if (stopping.aborted) return undefined;
    return { status: 'major_outage', description: publicSentence(error), error };
  }
}

/** Messages of errors name hosts, buckets and keys: they are for the log. */
function publicSentence(error: unknown): string {
  const kind = isAppError(error) ? error.kind : 'internal';
  if (kind === 'unavailable' || kind === 'rate_limited') return 'Does not answer.';
  if (kind === 'internal' || kind === 'corrupt') return 'Does not work; the log says why.';
  return 'Refuses this service; the log says what to set right.';
}

/** Settles when the time is over or the signal aborts, even if `run` does not. */
async function withTimeout(
  clock: Clock,
  stopping: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  stopping.addEventListener('abort', end, { once: true });
  const late = clock.sleep(timeoutMs, ending.signal).then(() => {
    throw new AppError('upstream_unavailable', `There was no answer within ${timeoutMs} ms.`);
  });
  try {
    await Promise.race([(async () => run(ending.signal))(), late]);
  } finally {
    end();
    stopping.removeEventListener('abort', end);
  }
}
