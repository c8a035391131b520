import type { Randomness } from '../../core/clock.ts';
import type { ChannelView } from '../../domain/channel.ts';
import type { Platform } from '../../domain/platform.ts';
import type { Target } from '../../domain/target.ts';
import { type ChangedChannels, viewChannels } from '../../releases/forecast/view-channels.ts';
import type { UsageCounter } from '../../usage/usage-counter.ts';
import { createFleet, type DemoFleet, type Expected, moveOn } from './adoption-model.ts';
import type { DemoApplication } from './demo-application.ts';
import { DAY_MS, type DemoClock, HOUR_MS, isWeekend } from './demo-time.ts';

/** Counts the requests of the demo's installations with the counter of the service. */

export const COUNTED_DAYS = 42;
const SPAN_MS = 6 * HOUR_MS;
/** The model counts the last hour minute by minute, because the service shows it as a rate. */
const LAST_MS = HOUR_MS;
const MINUTE_MS = 60_000;

/** The activity in each quarter of a day (UTC); the average is 1. */
const QUARTERS = [0.35, 1.35, 1.5, 0.8];
const WEEKEND_ACTIVITY = 0.45;
/** The share by which the activity of a span may be higher or lower by chance. */
const NOISE = 0.05;

const ARCHES: Readonly<Record<Platform, Target['arch']>> = {
  windows: 'x64',
  macos: 'arm64',
  linux: 'x64',
};

export interface UsageSpan {
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
}

/** The counted spans, in the order of time. */
export function spansUntil(endsAt: number): readonly UsageSpan[] {
  const spans: UsageSpan[] = [];
  const last = endsAt - LAST_MS;
  let from = Math.floor(endsAt / DAY_MS) * DAY_MS - (COUNTED_DAYS - 1) * DAY_MS;
  for (; from < last; from += SPAN_MS) spans.push({ from, to: Math.min(from + SPAN_MS, last) });
  return [...spans, { from: last, to: endsAt }];
}

export interface CountedApplication {
  readonly application: DemoApplication;
  readonly channels: ChangedChannels;
}

/** @returns a function that counts one span of an application. The caller must call it in the order of time */
export function createUsageModel(deps: {
  readonly clock: DemoClock;
  readonly randomness: Randomness;
  readonly counter: UsageCounter;
}): (counted: CountedApplication, span: UsageSpan) => void {
  const { clock, randomness } = deps;
  const fleets = new Map<string, DemoFleet>();
  const shown = new WeakMap<ChangedChannels, ReadonlyMap<string, ChannelView>>();

  const fleetOf = (
    { name, population }: DemoApplication,
    view: ChannelView,
    platform: Platform,
  ): DemoFleet => {
    const key = `${name} ${view.name} ${platform}`;
    const size = population[view.name]?.[platform] ?? 0;
    const machine = { platform, arch: ARCHES[platform], format: null, osVersion: null };
    const names = { application: name, channel: view.name, machine };
    const fleet = fleets.get(key) ?? createFleet(names, { view, size, randomness });
    fleets.set(key, fleet);
    return fleet;
  };

  return ({ application, channels }, span) => {
    const views = shown.get(channels) ?? viewChannels(channels);
    shown.set(channels, views);
    for (const [channel, sizes] of Object.entries(application.population)) {
      const view = views.get(channel);
      if (view === undefined) continue;
      for (const platform of Object.keys(sizes) as Platform[]) {
        const fleet = fleetOf(application, view, platform);
        const at = span.from;
        const activeDays = activeDaysIn(span, randomness);
        const { checksPerDay } = application;
        const expected = moveOn(fleet, view, { at, activeDays, checksPerDay });
        for (const moment of momentsIn(span)) {
          clock.set(moment.at);
          count(deps, fleet, expected, moment.share);
        }
      }
    }
  };
}

/** The share of a day's use that falls into a span. */
function activeDaysIn({ from, to }: UsageSpan, randomness: Randomness): number {
  const quarter = QUARTERS[Math.floor((from % DAY_MS) / SPAN_MS)] ?? 1;
  const noise = 1 + NOISE * (2 * randomness.fraction() - 1);
  return ((to - from) / DAY_MS) * quarter * noise * (isWeekend(from) ? WEEKEND_ACTIVITY : 1);
}

function momentsIn({
  from,
  to,
}: UsageSpan): readonly { readonly at: number; readonly share: number }[] {
  const minutes = (to - from) / MINUTE_MS;
  if (to - from !== LAST_MS) return [{ at: from, share: 1 }];
  return Array.from({ length: minutes }, (_, minute) => ({
    at: from + minute * MINUTE_MS,
    share: 1 / minutes,
  }));
}

function count(
  { counter, randomness }: { counter: UsageCounter; randomness: Randomness },
  { application, channel, machine: { platform } }: DemoFleet,
  { checks, links }: Expected,
  share: number,
): void {
  // The number is rounded up or down by chance, so that small numbers are right on average.
  const whole = (expected: number): number => Math.floor(expected * share + randomness.fraction());
  for (const { version, offered, count: expected } of checks) {
    for (let left = whole(expected); left > 0; left--) {
      counter.countCheck({ application, channel, platform, version, offered });
    }
  }
  for (const { version, count: expected } of links) {
    for (let left = whole(expected); left > 0; left--) {
      counter.countLink({ application, channel, platform, version });
    }
  }
}
