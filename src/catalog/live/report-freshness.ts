import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Freshness } from '../trust/freshness.ts';
import type { Standing } from './decide-freshness.ts';

/** The sentences of logs, status and answers about how new the signed state of an application is. */

/** Why no client may get an answer. Every client can read it. */
export function refusalSentence(
  application: string,
  newest: Freshness | undefined,
  isRootMissing: boolean,
): string {
  return `The signed state of ${application} is not known to be new: ${whyUnproven(newest, isRootMissing)}. An operator who knows that it is the newest state runs "slipway trust renew".`;
}

function whyUnproven(newest: Freshness | undefined, isRootMissing: boolean): string {
  if (newest === undefined) return 'the store has no valid timestamp of the last days';
  return isRootMissing
    ? `its timestamp names root ${newest.rootVersion}, which is missing`
    : `its timestamp expired at ${timeOf(newest.expiresAt)}`;
}

/** What an operator has to know about the newest timestamp; undefined: nothing. */
export function expirySentence(
  application: string,
  standing: Standing,
  newest: Freshness | undefined,
): string | undefined {
  const remedy = `run "slipway trust renew", or set TRUST_KEY for this service.`;
  const later = `A service that starts without a saved state then answers 503: ${remedy}`;
  if (standing !== 'expiring' && standing !== 'expired') return undefined;
  if (newest === undefined) return `${application} has no valid signed timestamp: ${remedy}`;
  const time = timeOf(newest.expiresAt);
  return standing === 'expired'
    ? `The signed timestamp of ${application} expired at ${time}: ${remedy}`
    : `The signed timestamp of ${application} expires at ${time}. ${later}`;
}

/** Logs when the standing of an application changes, and remembers since when clients get no answer. */
export interface FreshnessReport {
  /** @param sentence about the standing, for the log */
  note(standing: Standing, sentence: string | undefined): void;
  /** Since when clients get no answer, in milliseconds since the epoch; undefined: they do. */
  refusedSince(): number | undefined;
}

export function createFreshnessReport(deps: {
  readonly application: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}): FreshnessReport {
  const { application, clock, log } = deps;
  let known: Standing = 'new';
  let refusedSince: number | undefined;
  return {
    note: (standing, reason) => {
      if (standing === known) return;
      const facts = { application, reason };
      if (known === 'unproven') {
        log.info({ application }, 'the signed state is known to be new: clients get answers');
        refusedSince = undefined;
      }
      if (standing === 'unproven') {
        log.error(facts, 'clients get no answer: the signed state is not known to be new');
        refusedSince = clock.now();
      }
      if (standing === 'expiring') log.warn(facts, 'the signed timestamp is about to expire');
      if (standing === 'expired') log.warn(facts, 'the signed timestamp has expired');
      known = standing;
    },
    refusedSince: () => refusedSince,
  };
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
