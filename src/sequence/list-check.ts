import { z } from 'zod';
import { mapInSteps, type Steps } from '../steps.ts';

/** Checks of long lists in steps: zod checks a whole document at once. */

/** A list whose items are not checked. Zod would copy it, item by item. */
export const listSchema = z.custom<readonly unknown[]>(Array.isArray);

/** The items as the schema gives them; undefined when it refuses one. */
export function* parseItemsInSteps<S extends z.ZodType>(
  items: readonly unknown[],
  schema: S,
): Steps<z.output<S>[] | undefined> {
  const parsed = yield* mapInSteps(items, (item) => schema.safeParse(item));
  const values = parsed.flatMap(({ success, data }) => (success ? [data] : []));
  return values.length === items.length ? values : undefined;
}
