import { CLOCK_DIFFERENCE_MAX_MS, type Clock, type Randomness } from '../../core/clock.ts';
import { counted } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { probeKey } from './keys.ts';
import type { ComponentStatus, Indicator } from './report.ts';

/** A part of the status page: read from memory, or probed in the background. */
export type ComponentSource = ReadComponents | ProbedComponent;

/** Components whose state is in memory. They may come and go, as applications do. */
export interface ReadComponents {
  readonly kind: 'read';
  /** Called for every report: answers from memory, and never throws. */
  read(): readonly ComponentReading[];
}

interface ComponentReading {
  readonly id: string;
  /** The application that the component is about, for the log; undefined for a component of the whole service. */
  readonly application?: string;
  readonly name: string;
  readonly status: ComponentStatus;
  /** Public: without a host, bucket, key or secret. */
  readonly description: string;
  /** The impact of this state on the whole service. */
  readonly impact: Indicator;
}

/** One component that is probed in the background; real requests may report on it as well. */
export interface ProbedComponent {
  readonly kind: 'probed';
  readonly id: string;
  readonly name: string;
  /** The impact of its outage on the whole service; slowness is always `minor`. */
  readonly outageImpact: 'minor' | 'major';
  /**
   * Resolves when the component works, throws when it does not. The error goes to the log, not to the page. Must end
   * when the signal aborts. Without a probe, only real requests report the state.
   */
  readonly probe?: (signal: AbortSignal) => Promise<unknown>;
  /** Default 5 s. */
  readonly timeoutMs?: number;
  /** Default 30 s, jittered; every 3 s while the component does not work. */
  readonly intervalMs?: number;
}

/** The status must report an outage within ten seconds, even when the store hangs, and with a jitter of one fifth. */
const STORE_PROBES = { intervalMs: 4_000, timeoutMs: 4_000 } as const;

/** The part of the catalog's health that the status needs. */
export interface ObservedCatalog {
  readonly ready: boolean;
  readonly applications: Readonly<Record<string, ObservedApplication>>;
  readonly problems: readonly string[];
}

export interface ObservedApplication {
  readonly revision: number;
  readonly source: 'none' | 'saved' | 'live';
  /** Milliseconds since the epoch. */
  readonly confirmedAt: number | undefined;
  readonly problems: readonly string[];
  readonly storeFailing: boolean;
  /** See `ApplicationHealth`. */
  readonly isUnverified?: boolean;
  /** Why no client gets an answer; undefined when clients do. */
  readonly refusal?: string | undefined;
}

type State = Pick<ComponentReading, 'status' | 'description' | 'impact'>;

/**
 * The component `catalog` for all applications together, and `catalog:{application}` for each.
 *
 * @param deps.staleMaxMs the catalog's limit: the time for which it answers clients from an unconfirmed state
 */
export function catalogComponents(deps: {
  readonly health: () => ObservedCatalog;
  readonly clock: Clock;
  readonly staleMaxMs: number;
}): ReadComponents {
  const { clock, staleMaxMs } = deps;
  const ageOf = ({ confirmedAt }: ObservedApplication): number | null =>
    // Zero: the store never confirmed this saved state.
    confirmedAt === undefined || confirmedAt === 0 ? null : clock.now() - confirmedAt;
  return {
    kind: 'read',
    read: () => {
      const health = deps.health();
      const each = Object.entries(health.applications).map(
        ([application, observed]): ComponentReading => ({
          id: `catalog:${application}`,
          application,
          name: `Catalog of ${application}`,
          ...stateOf(observed, ageOf(observed), staleMaxMs),
        }),
      );
      const whole = stateOfAll(health, each);
      return [{ id: 'catalog', name: 'Catalog', ...whole }, ...each];
    },
  };
}

function stateOfAll(health: ObservedCatalog, each: readonly ComponentReading[]): State {
  const isAllOut = each.length > 0 && each.every(({ status }) => status === 'major_outage');
  if (!health.ready || isAllOut) {
    const description = 'No catalog is loaded: updates cannot be answered.';
    return { status: 'major_outage', description, impact: 'critical' };
  }
  if (health.problems.length > 0) {
    const description = 'The list of applications cannot be read: new applications are not seen.';
    return { status: 'degraded_performance', description, impact: 'minor' };
  }
  // The applications have their own impact. The sentence is public, so it neither names nor counts applications.
  if (each.some(({ status }) => status === 'major_outage')) {
    const description = 'Updates of some applications cannot be answered.';
    return { status: 'partial_outage', description, impact: 'none' };
  }
  if (each.some(({ status }) => status !== 'operational')) {
    const description = 'Updates are answered. New releases of some applications may be missing.';
    return { status: 'degraded_performance', description, impact: 'none' };
  }
  // An operator has chosen this with TRUST_UNSIGNED, so the status is no alarm.
  const isUnverified = Object.values(health.applications).some((each) => each.isUnverified);
  const description = isUnverified
    ? 'Updates are answered. The signatures of some applications are not verified (TRUST_UNSIGNED).'
    : 'Updates are answered.';
  return { status: 'operational', description, impact: 'none' };
}

function stateOf(observed: ObservedApplication, age: number | null, staleMaxMs: number): State {
  const { revision, source, problems, storeFailing, refusal } = observed;
  if (source === 'none') {
    // An application without revisions is not an outage. An application with only corrupt revisions is an outage.
    return age === null || problems.length > 0
      ? out('No catalog could be loaded: nothing is offered.')
      : { status: 'operational', description: 'Nothing is published yet.', impact: 'none' };
  }
  if (age === null || age > staleMaxMs) {
    return out(`Revision ${revision} was last confirmed too long ago: nothing is offered.`);
  }
  if (refusal !== undefined) {
    return out(`Revision ${revision} is not known to be new: nothing is offered; see the log.`);
  }
  const confirmed = `revision ${revision}, confirmed ${spanText(age)} ago`;
  if (source === 'saved') {
    const description = `Answers come from the state saved on disk: ${confirmed}.`;
    return { status: 'partial_outage', description, impact: 'major' };
  }
  if (storeFailing) {
    const description = `The object store cannot be read. Answers come from ${confirmed}.`;
    return { status: 'degraded_performance', description, impact: 'minor' };
  }
  if (problems.length > 0) {
    // Leaves out the texts of the problems, because they name keys.
    const count = counted(problems.length, 'problem');
    const description = `Answers come from ${confirmed}, with ${count}; see the log.`;
    return { status: 'degraded_performance', description, impact: 'minor' };
  }
  return { status: 'operational', description: `Answers from ${confirmed}.`, impact: 'none' };
}

function out(description: string): State {
  return { status: 'major_outage', description, impact: 'major' };
}

function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** Compares this machine's clock with the store's clock. @param offsetMs the store's time minus this machine's time */
export function clockComponent(offsetMs: () => number | undefined): ReadComponents {
  return {
    kind: 'read',
    read: () => {
      const offset = offsetMs() ?? 0;
      const named = { id: 'clock', name: 'Clock' };
      if (Math.abs(offset) <= CLOCK_DIFFERENCE_MAX_MS) {
        const description = 'Agrees with the store.';
        return [{ ...named, status: 'operational', description, impact: 'none' }];
      }
      const side = offset > 0 ? 'behind' : 'ahead of';
      const description = `This server's clock is ${spanText(Math.abs(offset))} ${side} the store's. Answers use the store's time; nothing old is deleted.`;
      return [{ ...named, status: 'degraded_performance', description, impact: 'minor' }];
    },
  };
}

/** Creates a small object and deletes it, because a full or read-only disk still answers reads. */
export function diskComponent(deps: {
  readonly store: ObjectStore;
  readonly randomness: Randomness;
}): ProbedComponent {
  return {
    kind: 'probed',
    id: 'disk',
    name: 'Storing on disk',
    outageImpact: 'major',
    ...STORE_PROBES,
    probe: async (signal) => {
      const key = probeKey(deps.randomness.id());
      await deps.store.create(key, Buffer.from('probe'), { signal });
      await deps.store.delete(key, { signal });
    },
  };
}

/**
 * Reads an object that cannot exist. The probe fails when the store denies this read, because such a store does not
 * report a missing object as missing.
 */
export function objectStoreComponent(deps: {
  readonly store: ObjectStore;
  readonly randomness: Randomness;
  /** Default: the store with the releases. */
  readonly id?: string;
  readonly name?: string;
}): ProbedComponent {
  return {
    kind: 'probed',
    id: deps.id ?? 'object_store',
    name: deps.name ?? 'Object store',
    outageImpact: 'major',
    ...STORE_PROBES,
    // Does not use HEAD: its 404 is the same for a missing object and a missing bucket.
    probe: async (signal) => {
      const key = probeKey(deps.randomness.id());
      const found = await deps.store.get(key, { signal, bytesMax: 1024 });
      if (found !== undefined) {
        throw new AppError(
          'store_nonconforming',
          'The store has an object that was never created.',
        );
      }
    },
  };
}
