import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Finding } from './probe.ts';
import { type ComponentStatus, isWorse } from './report.ts';

/** The last known state of a component. */
export interface Known {
  readonly status: ComponentStatus;
  readonly description: string;
  /** The time at which the status last changed; milliseconds since the epoch. */
  readonly changedAt: number;
  /** Milliseconds since the epoch; null before the first check. */
  readonly checkedAt: number | null;
}

interface Ledger {
  get(id: string): Known;
  /** Notes a finding about a component, and logs the finding once when it changes the status, unless `isQuiet`. */
  note(id: string, finding: Finding, isQuiet?: boolean): Known;
  /** Takes over the state that another process noted and logged. */
  adopt(id: string, known: Known): void;
}

export function createLedger({ clock, log }: { readonly clock: Clock; readonly log: Log }): Ledger {
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
    adopt: (id, known) => {
      ledger.set(id, known);
    },
    note: (id, { status, description, error }, isQuiet = false) => {
      const before = get(id);
      const now = clock.now();
      const isChanged = before.status !== status;
      const changedAt = isChanged ? now : before.changedAt;
      const known = { status, description, changedAt, checkedAt: now };
      ledger.set(id, known);
      if (isQuiet) return known;
      const facts = { component: id, from: before.status, to: status, reason: description };
      if (isWorse(status, before.status)) {
        log.warn({ ...facts, err: error }, 'a component got worse');
      } else if (isChanged) log.info(facts, 'a component got better');
      return known;
    },
  };
}
