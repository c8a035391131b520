import { isAppError } from '../../errors.ts';

/** What a check of `doctor` found. */
export interface Finding {
  readonly outcome: 'ok' | 'warning' | 'failed' | 'skipped';
  /** What is the case, as sentences. */
  readonly detail: string;
  /** What the operator must do; null when there is nothing to do, or when the detail says it. */
  readonly remedy: string | null;
}

export interface Check extends Finding {
  readonly name: string;
}

export const ok = (detail: string): Finding => ({ outcome: 'ok', detail, remedy: null });
export const warning = (detail: string, remedy: string): Finding => ({
  outcome: 'warning',
  detail,
  remedy,
});
export const failed = (detail: string, remedy: string | null): Finding => ({
  outcome: 'failed',
  detail,
  remedy,
});
/** A check that could not be made here. */
export const skipped = (detail: string): Finding => ({ outcome: 'skipped', detail, remedy: null });

/** Runs checks in order. An AppError of a check is a failure: its message says what to do. */
export async function runChecks(
  checks: Readonly<Record<string, () => Promise<Finding>>>,
  { stopsAfter }: { readonly stopsAfter?: string } = {},
): Promise<readonly Check[]> {
  const found: Check[] = [];
  for (const [name, run] of Object.entries(checks)) {
    const finding = await run().catch((error: unknown) => {
      if (!isAppError(error)) throw error;
      return failed(error.message, null);
    });
    found.push({ name, ...finding });
    if (name === stopsAfter && finding.outcome === 'failed') break;
  }
  return found;
}
