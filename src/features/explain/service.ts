import type { Part, PartDeps } from '../../server/part.ts';
import { explainRoutes } from './route.ts';

/** Explains to publishers which update a client gets, and why. */
export function openExplain({ explain }: PartDeps): Part {
  return {
    routes: (shared) => explainRoutes({ ...shared, explain }),
    tags: { signedIn: [{ name: 'explain', description: 'Why a client gets an update, or none.' }] },
  };
}
