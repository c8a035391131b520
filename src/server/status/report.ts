/** The status page's report, in the vocabulary of Statuspage. */

/** From best to worst. */
export const COMPONENT_STATUSES = [
  'operational',
  'degraded_performance',
  'partial_outage',
  'major_outage',
] as const;
export type ComponentStatus = (typeof COMPONENT_STATUSES)[number];

/**
 * From best to worst. `minor`: a component is degraded, or a component that updates do not need is out. `major`: the
 * object store is out, or a catalog is too old or comes from disk. `critical`: no catalog can answer.
 */
export const INDICATORS = ['none', 'minor', 'major', 'critical'] as const;
export type Indicator = (typeof INDICATORS)[number];

export interface ComponentReport {
  readonly id: string;
  readonly name: string;
  readonly status: ComponentStatus;
  /** A public sentence, without a host, bucket, key or secret. */
  readonly description: string;
  /** The time at which the status last changed; milliseconds since the epoch. */
  readonly updatedAt: number;
  /** Milliseconds since the epoch; null before the first check. */
  readonly checkedAt: number | null;
}

export interface StatusReport {
  /** The time at which the report was made; milliseconds since the epoch. */
  readonly at: number;
  readonly indicator: Indicator;
  readonly description: string;
  /**
   * The components of the whole service. Every visitor can read them, so they name no application, and their number
   * does not grow with the number of applications.
   */
  readonly components: readonly ComponentReport[];
}

/** True when `a` is a worse status than `b`. */
export function isWorse(a: ComponentStatus, b: ComponentStatus): boolean {
  return COMPONENT_STATUSES.indexOf(a) > COMPONENT_STATUSES.indexOf(b);
}

/** The worst of the impacts; `none` when there are no impacts. */
export function worstOf(impacts: readonly Indicator[]): Indicator {
  return INDICATORS.findLast((indicator) => impacts.includes(indicator)) ?? 'none';
}

export const INDICATOR_SENTENCES: Readonly<Record<Indicator, string>> = {
  none: 'All systems operational',
  minor: 'Updates are answered; some parts are degraded',
  major: 'Updates are answered from the last good state, or for some applications only',
  critical: 'Updates cannot be answered',
};
