import { seenRequestRoutes } from '../http/operations/seen-request.ts';
import type { Part } from './part.ts';

/** Answers `slipway doctor --url`. */
export function openDoctor(): Part {
  return { routes: seenRequestRoutes };
}
