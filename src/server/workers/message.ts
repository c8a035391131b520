import type { CatalogReport } from '../../catalog/live/relay.ts';
import type { MetricsUpdate } from '../../usage/shared-metrics.ts';
import type { ComponentUpdate } from '../status/status.ts';

/** The messages between the primary process and its workers: plain JSON. */

/** A finding of one worker that the other workers take over. */
export type Report = CatalogReport | ComponentUpdate | MetricsUpdate;

/** The metrics and the readiness of one worker. */
export interface Measurement {
  /** As `Registry.getMetricsAsJSON` of prom-client returns them. */
  readonly metrics: readonly object[];
  /** The document of `/readyz` for operators. */
  readonly readiness: Readiness;
}

export interface Readiness {
  readonly status: 'ready' | 'not_ready';
}

/** The facts about the service that the log states. */
export interface Facts {
  readonly address: string;
  /** The address that clients use. */
  readonly public_url: string;
  /** The reason why the service cannot answer updates yet; missing when it can. */
  readonly problem?: string;
  /** The number of applications that were known at the start. */
  readonly applications: number;
}

export type ToPrimary =
  /** The worker has loaded its code and can take over reports. */
  | { readonly kind: 'joined' }
  /** The worker answers clients. */
  | { readonly kind: 'listening'; readonly facts: Facts }
  /** The worker cannot start, or cannot go on, and ends now. */
  | { readonly kind: 'failed'; readonly message: string }
  /** Sent every second: the event loop of the worker is not blocked. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'report'; readonly report: Report }
  /** The worker wants to do work that takes a whole processor. */
  | { readonly kind: 'turn_asked' | 'turn_ended'; readonly request: number }
  | { readonly kind: 'measured'; readonly request: number; readonly measurement: Measurement };

export type ToWorker =
  /** The answer to `joined`, with the newest reports of the other workers. */
  | {
      readonly kind: 'welcome';
      readonly leads: boolean;
      /** True when other workers answer clients already. */
      readonly othersAnswer: boolean;
      readonly reports: readonly Report[];
    }
  /** The worker is the leader from now on: it polls the store. */
  | { readonly kind: 'lead' }
  /** Another worker is the leader from now on. */
  | { readonly kind: 'follow' }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'measure'; readonly request: number }
  | { readonly kind: 'turn_granted'; readonly request: number }
  | { readonly kind: 'stop' };

/** Marks the messages of Slipway, because libraries send messages over the same channel. */
const CHANNEL = 'slipway';

export interface Envelope<Message> {
  readonly channel: string;
  readonly message: Message;
}

export function seal<Message>(message: Message): Envelope<Message> {
  return { channel: CHANNEL, message };
}

/** @returns the message; undefined when a library sent it */
export function open<Message>(envelope: Partial<Envelope<Message>>): Message | undefined {
  return envelope.channel === CHANNEL ? envelope.message : undefined;
}

/**
 * True when only the leader may send the report. A leader that was replaced while it hung does not know yet that it was
 * replaced.
 */
export function isLeadersReport(report: Report): boolean {
  return report.kind.startsWith('catalog_');
}

/** A newer report replaces an older one with the same name. */
export function nameOfReport(report: Report): string {
  if ('application' in report) return `${report.kind} ${report.application}`;
  return 'id' in report ? `${report.kind} ${report.id}` : report.kind;
}
