import type { Clock, Randomness } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { startPolling } from '../../core/polling.ts';
import type { ComponentSource, ProbedComponent } from './components.ts';
import { createLedger, type Known } from './ledger.ts';
import { type Finding, runProbe } from './probe.ts';
import {
  type ComponentReport,
  INDICATOR_SENTENCES,
  type Indicator,
  type StatusReport,
  worstOf,
} from './report.ts';

/** The state of the service and of its dependencies, checked in the background. */
export interface Status {
  /** Probes every component at once, then repeatedly until stopped. */
  start(): void;
  /** Resolves when no probe is running. */
  stop(): Promise<void>;
  /** Makes the report from memory. */
  report(): StatusReport;
  /**
   * A real request met a failure of a component. The failure counts at once, without waiting for the next probe.
   *
   * @param id of a probed component; ignored when this service has no such component
   * @param sentence public: without a host, bucket, key or secret
   */
  noteFailure(id: string, sentence: string): void;
  /** A real request found that a component works. */
  noteSuccess(id: string): void;
  /** Takes over a finding of another process of this machine. */
  follow(update: ComponentUpdate): void;
}

/**
 * Lets several processes on one machine show the same status: one of them, the leader, probes, and each reports what
 * its requests find.
 */
export interface StatusRelay {
  /** True when this process is the leader. */
  leads(): boolean;
  /** Sends an update to the other processes. */
  send(update: ComponentUpdate): void;
}

/** Plain JSON. Replaces the last update of the component. */
export interface ComponentUpdate {
  readonly kind: 'component';
  readonly id: string;
  readonly known: Known;
}

interface StatusDeps {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** In the order of the page. */
  readonly components: readonly ComponentSource[];
  /** Undefined: this process probes, and no other process shows its findings. */
  readonly relay?: StatusRelay | undefined;
}

const PROBE_INTERVAL_MS = 30_000;
const PROBE_TIMEOUT_MS = 5_000;
/** With jitter and the time limit, the status reports the end of an outage within ten seconds. */
const RECHECK_INTERVAL_MS = 3_000;
/** The service reads the components in memory this often for the log, even when no client asks for the page. */
const READ_INTERVAL_MS = 5_000;
/** The log names this many of the applications that change at the same moment. */
const APPLICATIONS_LOGGED_MAX = 10;

/**
 * A component that was not checked yet counts as operational, and its sentence states that. The first probe runs
 * within seconds, and an alarm at every start would teach operators to ignore alarms. Components in memory, such as
 * the catalog, are correct from the first report on.
 */
export function createStatus(deps: StatusDeps): Status {
  const { clock, components, relay } = deps;
  const ledger = createLedger(deps);
  const probed = components.filter((source) => source.kind === 'probed');
  const hasProbed = (id: string): boolean => probed.some((component) => component.id === id);
  let stops: readonly (() => Promise<void>)[] = [];

  const noteProbed = (id: string, finding: Finding): void => {
    const known = ledger.note(id, finding);
    relay?.send({ kind: 'component', id, known });
  };

  /** Every process reads these components from its own memory, so the leader reports only changes. */
  const noteRead = (id: string, finding: Finding, isQuiet: boolean): Known => {
    const before = ledger.get(id);
    const known = ledger.note(id, finding, isQuiet);
    const isNews = before.checkedAt === null || before.status !== known.status;
    if (isNews && relay?.leads() === true) relay.send({ kind: 'component', id, known });
    return known;
  };

  const pollProbe = (component: ProbedComponent): readonly (() => Promise<void>)[] => {
    const { id, probe, intervalMs = PROBE_INTERVAL_MS, timeoutMs = PROBE_TIMEOUT_MS } = component;
    if (probe === undefined) return [];
    const check = async (stopping: AbortSignal): Promise<void> => {
      if (relay?.leads() === false) return;
      const finding = await runProbe(clock, stopping, timeoutMs, probe);
      // A failed probe must not reject `check`: otherwise the poll would slow down, and would find the recovery late.
      if (finding !== undefined) noteProbed(id, finding);
    };
    // A real request may have reported the outage, and the next probe of the other poll may be far away. So this poll
    // checks again soon.
    const recheck = async (stopping: AbortSignal): Promise<void> => {
      if (ledger.get(id).status !== 'operational') await check(stopping);
    };
    const polls = [startPolling(deps, intervalMs, check, 0)];
    if (intervalMs > RECHECK_INTERVAL_MS) {
      polls.push(startPolling(deps, RECHECK_INTERVAL_MS, recheck));
    }
    return polls;
  };

  const readAll = (): readonly Shown[] => {
    let changes = 0;
    const all = components.flatMap((source) => {
      if (source.kind === 'probed') return [shownProbed(source, ledger.get(source.id))];
      return source.read().map((reading) => {
        const { id, application, impact, status } = reading;
        if (application !== undefined && ledger.get(id).status !== status) changes += 1;
        const isQuiet = application !== undefined && changes > APPLICATIONS_LOGGED_MAX;
        return show(reading, noteRead(id, reading, isQuiet), impact);
      });
    });
    // An outage of the store changes all applications at the same moment, and so does a start of the service.
    const others = changes - APPLICATIONS_LOGGED_MAX;
    if (others > 0) deps.log.info({ applications: others }, 'more applications changed as well');
    return all;
  };

  return {
    start: () => {
      if (stops.length > 0) return;
      const read = async (): Promise<void> => void readAll();
      stops = [startPolling(deps, READ_INTERVAL_MS, read, 0), ...probed.flatMap(pollProbe)];
    },
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
    report: () => {
      const all = readAll();
      const indicator = worstOf(all.map(({ impact }) => impact));
      return {
        at: clock.now(),
        indicator,
        description: INDICATOR_SENTENCES[indicator],
        components: all
          .filter(({ application }) => application === undefined)
          .map(({ component }) => component),
      };
    },
    noteFailure: (id, description) => {
      if (hasProbed(id)) noteProbed(id, { status: 'major_outage', description });
    },
    noteSuccess: (id) => {
      if (hasProbed(id)) noteProbed(id, { status: 'operational', description: 'Answers.' });
    },
    follow: ({ id, known }) => {
      // A component in memory keeps its own status. It takes over the time of the last change when the other process
      // has the same status.
      if (hasProbed(id) || ledger.get(id).status === known.status) ledger.adopt(id, known);
    },
  };
}

interface Shown {
  readonly component: ComponentReport;
  readonly impact: Indicator;
  readonly application: string | undefined;
}

function shownProbed(component: ProbedComponent, known: Known): Shown {
  const { status } = known;
  const ifDown = status === 'major_outage' ? component.outageImpact : 'minor';
  return show(component, known, status === 'operational' ? 'none' : ifDown);
}

function show(
  {
    id,
    name,
    application,
  }: { readonly id: string; readonly name: string; readonly application?: string },
  { status, description, changedAt, checkedAt }: Known,
  impact: Indicator,
): Shown {
  const component = { id, name, status, description, updatedAt: changedAt, checkedAt };
  return { component, impact, application };
}
