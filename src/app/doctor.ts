import { seenRequestRoutes } from '../http/operations/seen-request.ts';
import type { Part } from '../server/part.ts';

/** Answers `slipway doctor --url`. */
export function openDoctor(): Part {
  return { routes: seenRequestRoutes };
}
