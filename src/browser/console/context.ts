import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Start } from '../../console/answers.ts';

/** What every screen knows. */

/** A change that was made, as the page tells it. */
export interface Outcome {
  readonly title: string;
  readonly sentences: readonly string[];
  /** Offered with a pause: undoes it. */
  readonly resume: { readonly app: string; readonly version: string } | null;
}

export interface Surroundings {
  readonly start: Start;
  /** Tells what was done, in a place that stays until the person closes it. */
  tell(outcome: Outcome): void;
  signOut: (() => void) | null;
}

export const SurroundingsContext = createContext<Surroundings | null>(null);

export function useSurroundings(): Surroundings {
  const surroundings = useContext(SurroundingsContext);
  if (surroundings === null) throw new Error('The screen is outside of the app.');
  return surroundings;
}
