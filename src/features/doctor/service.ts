import type { Part } from '../../server/part.ts';
import { seenRequestRoutes } from './seen-request-route.ts';

/** Answers `slipway doctor --url`. */
export function openDoctor(): Part {
  return { routes: seenRequestRoutes };
}
