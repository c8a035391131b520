import type { ClientRow, DifferenceRow } from './answers.ts';

/** The changes that the console asks its server for, and what the server answers. See `answers.ts`. */

/** The changes that the console makes. Each is a command of `slipway`, too. */
export type Change =
  | {
      readonly kind: 'pause' | 'resume' | 'yank';
      readonly version: string;
      readonly channel: string | null;
      readonly reason: string | null;
    }
  | {
      readonly kind: 'rollback';
      readonly to: string;
      readonly channel: string;
      readonly reason: string | null;
    }
  | {
      readonly kind: 'rollout';
      readonly version: string;
      readonly channel: string;
      /** `25%`, a plan such as `5%@0h,25%@1d,100%@4d`, or one of the words `freeze`, `unfreeze`, `complete`. */
      readonly plan: string;
      readonly freezeWindows: readonly string[];
      readonly reason: string | null;
    }
  | {
      readonly kind: 'notes';
      readonly version: string;
      readonly locale: string;
      /** Null removes the notes in this language. */
      readonly markdown: string | null;
      readonly reason: string | null;
    };

/** The body of `POST /console/api/apps/{app}/preview` and `POST …/change`. */
export interface ChangeRequest {
  readonly change: Change;
  /**
   * The catalog revision that the screen showed. When the catalog has a newer one, the answer is 409 `state_changed`,
   * and nothing is changed. Null only for a pause, which is made in every state.
   */
  readonly revision: number | null;
}

/** The answer of `…/preview`. Nothing was changed. */
export interface Preview {
  /** The command that makes the same change. */
  readonly command: string;
  /** What the change means, as whole sentences; the most important first. */
  readonly consequences: readonly string[];
  readonly differences: readonly DifferenceRow[];
  readonly clients: readonly ClientRow[];
  /** Only for a rollout: how a fleet would update. */
  readonly simulation: SimulatedRollout | null;
  /** False when the catalog is already in that state. */
  readonly changes: boolean;
}

/** How a fleet updates while the plans run, by the same decision as in the service. */
export interface SimulatedRollout {
  /** Says where the fleet is from: `The fleet is made up: …` */
  readonly fleet: string;
  readonly installations: number;
  readonly times: readonly string[];
  /** Newest first: how many installations run each version at each time. */
  readonly versions: readonly { readonly version: string; readonly counts: readonly number[] }[];
  /** Sentences about installations that no update reaches. */
  readonly stranded: readonly string[];
}

/** The answer of `…/change`. */
export interface Changed {
  readonly changed: boolean;
  readonly revision: number;
  /** What was done, and when clients see it. */
  readonly sentences: readonly string[];
}
