import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { channelEntries } from '../../catalog/documents/revision-document.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { PublishDeps } from '../../releases/publish/publish-request.ts';
import { refuseUsedStore } from '../../releases/refuse-used-store.ts';
import { addCounts, type Counts, dayOf, noCounts } from '../../usage/counts.ts';
import { readUsage } from '../../usage/read-usage.ts';
import { createUsage, type Usage } from '../../usage/usage.ts';
import { atelier } from './atelier.ts';
import { COUNTED_DAYS, createUsageModel, spansUntil, type UsageSpan } from './count-usage.ts';
import type { DemoApplication } from './demo-application.ts';
import { createDemoClock, timesOf } from './demo-time.ts';
import { fieldnotes } from './fieldnotes.ts';
import { harbor } from './harbor.ts';
import { createSeededRandomness } from './seeded-randomness.ts';
import { type DemoProgress, takeStep } from './take-step.ts';

/** The applications of the demo store, in the order of the list. */
export const DEMO_APPLICATIONS: readonly DemoApplication[] = [harbor, fieldnotes, atelier];

const ADVICE =
  'The demo does not add data to a store that has applications. Set DATA_DIR to a directory that does not exist yet. Nothing was changed.';

interface DemoStoreDeps extends Pick<PublishDeps, 'newestKnown'> {
  /**
   * The store for releases. Without a `privateStore`, also the store for counts. The store must have no applications.
   */
  readonly store: PublishDeps['store'];
  /** The store in which the service keeps its counts; absent when this is `store`. */
  readonly privateStore?: PublishDeps['store'];
  /** Waits in real time between two tries when the store fails. */
  readonly sleep: Clock['sleep'];
  /** The function is called before the first write; absent when the store is known to be sound. */
  readonly ensureConforming?: () => Promise<void>;
}

interface DemoStoreOptions {
  /** The time of the newest data, in milliseconds since the Unix epoch. */
  readonly endsAt: number;
  /** The same seed and the same end give the same catalogs and counts. */
  readonly seed: number;
  readonly onProgress?: (done: number, of: number) => void;
}

/** The contents of the store after the demo has filled it, for the summary. */
export interface FilledStore {
  readonly applications: readonly FilledApplication[];
  readonly usage: Counts & { readonly days: number };
  /** The time of the oldest data, in milliseconds since the Unix epoch. */
  readonly startsAt: number;
}

/**
 * Fills a store with three applications, their releases of four months, and six weeks of counts. The operations of the
 * commands write each document, at the time of a clock that moves from the first change to `endsAt`.
 *
 * @throws AppError `status_forbids` before the first write when the store has applications
 */
export async function fillDemoStore(
  deps: DemoStoreDeps,
  options: DemoStoreOptions,
): Promise<FilledStore> {
  await refuseUsedStore(deps, ADVICE);
  const directory = await mkdtemp(path.join(tmpdir(), 'slipway-demo-'));
  try {
    return await fill(deps, directory, options);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Something that happens at a time, in milliseconds since the Unix epoch. */
interface Event {
  readonly at: number;
  take(): Promise<void>;
}

async function fill(
  deps: DemoStoreDeps,
  directory: string,
  { endsAt, seed, onProgress = () => {} }: DemoStoreOptions,
): Promise<FilledStore> {
  const { store, privateStore = store, sleep, ensureConforming = async () => {} } = deps;
  const spans = spansUntil(endsAt);
  const clock = createDemoClock(sleep, spans[0]?.from ?? endsAt);
  const randomness = createSeededRandomness(seed);
  const writing = { ...deps, clock, randomness, ensureConforming, directory };
  const progresses = DEMO_APPLICATIONS.map((application): DemoProgress => {
    return { application, channels: {}, revision: 0, isSigned: false, artifacts: 0 };
  });
  const usage = createUsage({ ...DEMO_USAGE, store: privateStore, clock, randomness });
  const events = [
    ...progresses.flatMap((progress) => stepEvents(writing, progress, endsAt)),
    ...countEvents({ clock, randomness, usage }, progresses, spans),
  ].sort((a, b) => a.at - b.at);
  for (const [done, { at, take }] of events.entries()) {
    clock.set(at);
    await take();
    onProgress(done + 1, events.length);
  }
  return {
    applications: progresses.map(describeFilled),
    usage: { ...(await sumUsage(privateStore, clock)), days: COUNTED_DAYS },
    startsAt: events[0]?.at ?? endsAt,
  };
}

function stepEvents(
  deps: Parameters<typeof takeStep>[0],
  progress: DemoProgress,
  endsAt: number,
): readonly Event[] {
  const { steps } = progress.application;
  const times = timesOf(steps, endsAt);
  return steps.map((step, index) => ({
    at: times[index] ?? endsAt,
    take: () => takeStep(deps, progress, step),
  }));
}

function countEvents(
  deps: Pick<Parameters<typeof createUsageModel>[0], 'clock' | 'randomness'> & {
    readonly usage: Usage;
  },
  progresses: readonly DemoProgress[],
  spans: readonly UsageSpan[],
): readonly Event[] {
  const count = createUsageModel({ ...deps, counter: deps.usage });
  return spans.map((span, index) => ({
    at: span.from,
    take: async () => {
      for (const progress of progresses) count(progress, span);
      const next = spans[index + 1];
      // A service stores its counts at least once a day.
      if (next === undefined || dayOf(next.from) !== dayOf(span.from)) await deps.usage.refresh();
    },
  }));
}

/** The counter of a service whose channels are all public. When the counter cannot store counts, the demo fails. */
const DEMO_USAGE = {
  flushIntervalMs: 60_000,
  groupMin: 1,
  isKnownVersion: () => true,
  isPublicChannel: () => true,
  log: {
    info: () => {},
    warn: (facts: object, message: string) => {
      throw new AppError('internal', `${message}: ${JSON.stringify(facts)}`);
    },
    error: () => {},
  },
};

interface FilledApplication {
  readonly name: string;
  readonly title: string;
  readonly channels: readonly string[];
  /** The number of releases, including drafts and yanked releases. */
  readonly releases: number;
  readonly artifacts: number;
  /** The number of revisions of the application's catalog. */
  readonly changes: number;
}

function describeFilled(progress: DemoProgress): FilledApplication {
  const { application, channels, revision, artifacts } = progress;
  const published = application.steps.filter((step) => step.do === 'publish');
  return {
    name: application.name,
    title: application.title,
    channels: channelEntries(channels).map(([name]) => name),
    releases: new Set(published.map(({ version }) => version)).size,
    artifacts,
    changes: revision,
  };
}

/** The sum of all counts in a store. */
async function sumUsage(store: PublishDeps['store'], clock: Clock): Promise<Counts> {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const { rows } = await readUsage({ store, clock, log });
  const sum = noCounts();
  for (const row of rows) addCounts(sum, row);
  return sum;
}
