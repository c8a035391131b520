import type { Target } from '../../domain/target.ts';
import type { ChangeOptions } from '../arguments.ts';

/** The options of `slipway publish`. */
export interface PublishOptions extends ChangeOptions {
  readonly app?: string;
  readonly channel: string;
  readonly create: boolean;
  readonly allowPrerelease: boolean;
  readonly allowStranded: boolean;
  readonly notesFile?: readonly string[];
  readonly requires?: string;
  readonly mandatoryFor?: string;
  readonly endNative?: readonly Target[];
  readonly draft: boolean;
  readonly expect?: readonly (readonly Target[])[];
  readonly releasePartial: boolean;
  readonly rollout?: string;
  readonly freezeWindow?: readonly string[];
}
