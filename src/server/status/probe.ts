import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import type { ComponentStatus } from './report.ts';

/** The result of a probe or of a real request. */
export interface Finding {
  readonly status: ComponentStatus;
  /** Public: without a host, bucket, key or secret. */
  readonly description: string;
  /** For the log. */
  readonly error?: unknown;
}

const SLOW_MS = 2_000;

/**
 * Runs a probe once. Undefined when the process stopped the probe: that says nothing about the component.
 *
 * @param probe throws when the component does not work
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

/** The messages of errors name hosts, buckets and keys: they must appear in the log only. */
function publicSentence(error: unknown): string {
  if (isAppError(error) && error.publicDetail !== undefined) return error.publicDetail;
  const kind = isAppError(error) ? error.kind : 'internal';
  if (kind === 'unavailable' || kind === 'rate_limited') return 'Does not answer.';
  if (kind === 'internal' || kind === 'corrupt') return 'Does not work; see the log.';
  return 'Refuses this service; see the log.';
}

/** Settles at the time limit, or when the signal aborts, even if `run` does not settle. */
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
