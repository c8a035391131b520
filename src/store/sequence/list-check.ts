import { z } from 'zod';
import { ITEMS_PER_STEP, type Steps } from '../../core/steps.ts';
import type { CheckResult } from './envelope.ts';

/** Checks long lists in steps, because zod checks a whole document at once. */

/** A list whose items are not checked. `z.array` would copy the list, item by item. */
export const listSchema = z.custom<readonly unknown[]>(
  Array.isArray,
  'Invalid input: expected array',
);

/**
 * Like `z.array(schema).safeParse`, but in steps. Ends at the first wrong item: an attacker can store millions of wrong
 * items.
 *
 * @param path the path of the list in the document, for the error
 */
export function* parseItemsInSteps<S extends z.ZodType>(
  items: readonly unknown[],
  schema: S,
  path: readonly PropertyKey[],
): Steps<CheckResult<z.output<S>[]>> {
  const data: z.output<S>[] = [];
  for (const item of items) {
    const parsed = schema.safeParse(item);
    if (!parsed.success) {
      const issues = parsed.error.issues.slice(0, 1).map((issue) => ({
        ...issue,
        path: [...path, data.length, ...issue.path],
      }));
      return { success: false, error: new z.ZodError(issues) };
    }
    if (data.push(parsed.data) % ITEMS_PER_STEP === 0) yield;
  }
  return { success: true, data };
}
