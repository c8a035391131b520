import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Start } from '../answers.ts';

/** The things that every screen can use. */

/** The result of a change, in words for the operator. */
export interface Outcome {
  readonly title: string;
  readonly sentences: readonly string[];
  /** True when the change was not made. */
  readonly isFailure?: boolean;
  /** Only after a pause: the paused release. The operator can add a reason, or resume the release. */
  readonly paused?: { readonly app: string; readonly version: string };
}

export interface Surroundings {
  readonly start: Start;
  /** Shows the outcome until the operator closes it. */
  tell(outcome: Outcome): void;
}

export const SurroundingsContext = createContext<Surroundings | null>(null);

export function useSurroundings(): Surroundings {
  const surroundings = useContext(SurroundingsContext);
  if (surroundings === null) throw new Error('The screen is outside of the app.');
  return surroundings;
}
