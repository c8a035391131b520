import type { Clock, Randomness } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ComponentSource, ProbedComponent } from './components.ts';
import { runProbe } from './probe.ts';
import {
  type ComponentReport,
  type ComponentStatus,
  INDICATOR_SENTENCES,
  type Indicator,
  isWorse,
  type StatusReport,
  worstOf,
} from './report.ts';

/** How the service and what it depends on are doing, found out in the background. */
export interface Status {
  /** Probes at once, then over and over until stopped. */
  start(): void;
  /** Resolves when nothing is asked any more. */
  stop(): Promise<void>;
  /** From memory. */
  report(): StatusReport;
  /**
   * What real traffic met turns a component at once, without waiting for the next probe.
   *
   * @param id of a probed component; one that is not set up here is no part of the page, and ignored
   * @param sentence for anybody: no host, bucket, key or secret
   */
  noteFailure(id: string, sentence: string): void;
  noteSuccess(id: string): void;
}

export interface StatusDeps {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** In the order of the page. */
  readonly components: readonly ComponentSource[];
}

interface Known {
  readonly status: ComponentStatus;
  readonly description: string;
  /** Milliseconds since the epoch, these two. */
  readonly changedAt: number;
  readonly checkedAt: number | null;
}

const PROBE_INTERVAL_MS = 30_000;
const PROBE_TIMEOUT_MS = 5_000;
/** What is in memory is looked at for the log's sake, also when nobody asks. */
const READ_INTERVAL_MS = 5_000;

/**
 * A component that was not checked yet counts as operational, and says so: the first probe runs within
 * seconds, and an alarm at every start would teach people to overlook alarms. What is known in memory,
 * the catalog before all, is told from the first report on.
 */
export function createStatus(deps: StatusDeps): Status {
  const { clock, components } = deps;
  const ledger = createLedger(deps);
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  const probed = components.filter((source) => source.kind === 'probed');

  const check = async (
    { id, timeoutMs = PROBE_TIMEOUT_MS }: ProbedComponent,
    probe: NonNullable<ProbedComponent['probe']>,
  ): Promise<void> => {
    const finding = await runProbe(clock, stopping.signal, timeoutMs, probe);
    if (finding !== undefined) {
      ledger.note(id, finding.status, finding.description, finding.error);
    }
  };

  /** Unlike a poll of news it does not slow down while it fails: a recovery is news as well. */
  const repeat = async (intervalMs: number, task: () => Promise<void> | void): Promise<void> => {
    while (!stopping.signal.aborted) {
      await task();
      const pause = intervalMs * (0.8 + 0.4 * deps.randomness.fraction());
      await clock.sleep(pause, stopping.signal).catch(() => undefined);
    }
  };

  const readAll = (): [ComponentReport, Indicator][] =>
    components.flatMap((source): [ComponentReport, Indicator][] => {
      if (source.kind === 'probed') {
        const known = ledger.get(source.id);
        return [[reportOf(source, known), impactOf(source, known)]];
      }
      return source.read().map((reading) => {
        const { id, status, description } = reading;
        return [reportOf(reading, ledger.note(id, status, description)), reading.impact];
      });
    });

  return {
    start: () => {
      if (running.length > 0) return;
      running.push(repeat(READ_INTERVAL_MS, () => void readAll()));
      for (const component of probed) {
        const { probe, intervalMs = PROBE_INTERVAL_MS } = component;
        if (probe !== undefined) running.push(repeat(intervalMs, () => check(component, probe)));
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
    report: () => {
      const all = readAll();
      const indicator = worstOf(all.map(([, impact]) => impact));
      return {
        at: clock.now(),
        indicator,
        description: INDICATOR_SENTENCES[indicator],
        components: all.map(([component]) => component),
        catalogs: components.flatMap((source) =>
          source.kind === 'read' ? (source.catalogs?.() ?? []) : [],
        ),
      };
    },
    noteFailure: (id, sentence) => {
      if (probed.some((component) => component.id === id)) {
        ledger.note(id, 'major_outage', sentence);
      }
    },
    noteSuccess: (id) => {
      if (probed.some((component) => component.id === id)) {
        ledger.note(id, 'operational', 'Answers.');
      }
    },
  };
}

/** The last known state of each component; a change is logged, once. */
function createLedger({ clock, log }: Pick<StatusDeps, 'clock' | 'log'>) {
  const unknown: Known = {
    status: 'operational',
    description: 'Not checked yet.',
    changedAt: clock.now(),
    checkedAt: null,
  };
  const ledger = new Map<string, Known>();
  const get = (id: string): Known => ledger.get(id) ?? unknown;
  return {
    get,
    note: (id: string, status: ComponentStatus, description: string, error?: unknown): Known => {
      const before = get(id);
      const now = clock.now();
      const changedAt = before.status === status ? before.changedAt : now;
      const known = { status, description, changedAt, checkedAt: now };
      ledger.set(id, known);
      if (before.status !== status) {
        const facts = { component: id, from: before.status, to: status, reason: description };
        if (isWorse(status, before.status)) {
          log.warn({ ...facts, err: error }, 'a component got worse');
        } else log.info(facts, 'a component got better');
      }
      return known;
    },
  };
}

function reportOf(
  { id, name }: { readonly id: string; readonly name: string },
  { status, description, changedAt, checkedAt }: Known,
): ComponentReport {
  return { id, name, status, description, updatedAt: changedAt, checkedAt };
}

function impactOf({ outageImpact }: ProbedComponent, { status }: Known): Indicator {
  if (status === 'operational') return 'none';
  return status === 'major_outage' ? outageImpact : 'minor';
}
