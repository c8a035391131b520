import type { Arch, Format, Platform } from '../../domain/platform.ts';
import type { ReleaseNotes } from '../../domain/release.ts';
import type { ChannelSettings } from '../../releases/channels/channel-settings.ts';
import type { RequestedRollout } from '../../releases/offer/start-rollout.ts';
import type { RolloutAction } from '../../releases/rollouts/change-rollout.ts';

/**
 * The contents of the demo store as data: the steps of each application's publishers, and the number of its clients.
 */

/** The time of a step, relative to the end of the data. */
export type DemoTime =
  /**
   * A number of days before the end, at a time of day (UTC). A Saturday becomes the Friday before it, and a Sunday the
   * Monday after it.
   */
  | { readonly days: number; readonly time: string }
  /** A number of hours after the previous step. */
  | { readonly afterHours: number }
  /** A number of hours before the end, on any day of the week: for a step whose effect must be under way at the end. */
  | { readonly hours: number };

export const on = (days: number, time: string): DemoTime => ({ days, time });
export const after = (afterHours: number): DemoTime => ({ afterHours });
export const hoursAgo = (hours: number): DemoTime => ({ hours });

/** A file that every build has. */
export interface DemoFile {
  /** The name of the file; `{version}` stands for the version. */
  readonly name: string;
  readonly platform: Platform;
  readonly arch: Arch;
  readonly format: Format;
  readonly minimumOsVersion?: string;
}

interface Happened {
  readonly at: DemoTime;
  /** The actor in the history. */
  readonly by: string;
}

export interface PublishStep extends Happened {
  readonly do: 'publish';
  readonly version: string;
  readonly channel: string;
  readonly notes?: ReleaseNotes;
  readonly requires?: string;
  readonly mandatoryFor?: string;
  readonly rollout?: RequestedRollout;
  /** The platforms of the build; absent for a build for every platform. */
  readonly platforms?: readonly Platform[];
}

interface ChannelStep extends Happened {
  readonly do: 'create channel' | 'set channel';
  readonly channel: string;
  readonly settings: ChannelSettings;
  readonly reason?: string;
}

interface PromoteStep extends Happened {
  readonly do: 'promote';
  readonly version: string;
  readonly to: string;
  readonly rollout?: RequestedRollout;
}

interface RolloutStep extends Happened {
  readonly do: 'rollout';
  readonly version: string;
  readonly channel: string;
  readonly action: RolloutAction;
  readonly reason?: string;
}

interface StatusStep extends Happened {
  readonly do: 'pause' | 'resume' | 'yank' | 'retire';
  readonly version: string;
  readonly channel?: string;
  readonly reason: string;
}

interface RollbackStep extends Happened {
  readonly do: 'rollback';
  readonly to: string;
  readonly channel: string;
  readonly reason: string;
}

interface NotesStep extends Happened {
  readonly do: 'notes';
  readonly version: string;
  readonly set: ReleaseNotes;
  readonly reason: string;
}

/** Sets the public key that verifies the signatures of the builds. */
interface KeyStep extends Happened {
  readonly do: 'set key';
  readonly reason: string;
}

export type DemoStep =
  | PublishStep
  | ChannelStep
  | PromoteStep
  | RolloutStep
  | StatusStep
  | RollbackStep
  | NotesStep
  | KeyStep;

/** The installations that check for updates, by channel and platform, at the beginning of the counts. */
type DemoPopulation = Readonly<Record<string, Partial<Readonly<Record<Platform, number>>>>>;

export interface DemoApplication {
  readonly name: string;
  /** The name that users know. */
  readonly title: string;
  /** The kind of signatures that its builds have. */
  readonly signatures: 'tauri' | 'sparkle' | 'none';
  readonly files: readonly DemoFile[];
  /** The steps in the order of time. */
  readonly steps: readonly DemoStep[];
  readonly population: DemoPopulation;
  /** The number of checks of one installation on a working day. */
  readonly checksPerDay: number;
}
