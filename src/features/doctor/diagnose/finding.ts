import type { Check, Finding } from '../../../core/check.ts';
import { isAppError } from '../../../core/errors.ts';

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
/** The finding of a check that cannot run here. */
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
