import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Freshness, FreshRevision } from '../trust/freshness.ts';
import type { SigningDeps, Trust } from '../trust/trust.ts';
import { renewFreshness } from '../writing/signing.ts';
import { isRenewalDue } from './decide-freshness.ts';

/** Signs timestamps for a service with the key of an operator: each hour, and when a publisher died before it signed. */
export interface TimestampRenewal {
  /** Allows renewals: this process knows the state since the newest timestamp was young. */
  allow(): void;
  /** True when the newest timestamp names an older revision than the live one. */
  isBehind(): boolean;
  /** True when the publisher of the live revision signed no timestamp in time, and this process has to sign it. */
  isTakeOverDue(): boolean;
  /** Signs the next timestamp when one is due. Never throws: the log has the failure. */
  renew(state: FreshRevision): Promise<void>;
}

export interface RenewalDeps extends SigningDeps {
  readonly application: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly trust: Trust;
  readonly isProven: () => boolean;
  readonly newest: () => Freshness | undefined;
  /** Reads the timestamps of the store now. */
  readonly lookAgain: () => Promise<void>;
  readonly adopt: (signed: Freshness) => void;
}

export function createTimestampRenewal(deps: RenewalDeps): TimestampRenewal {
  const { application, clock, log, trust, isProven, newest } = deps;
  let isAllowed = false;
  let hasNoKey = false;
  /** When the signer was last asked; undefined: it has signed, or was not asked. */
  let triedAt: number | undefined;
  /** The live revision, while no timestamp names it. */
  let behind: { readonly revision: number; readonly since: number } | undefined;

  const noteLive = (revision: number): void => {
    if ((newest()?.revision.revision ?? 0) >= revision) behind = undefined;
    else if (behind?.revision !== revision) behind = { revision, since: clock.now() };
  };

  const isDue = (): boolean => {
    const signedAt = newest()?.signedAt;
    if (!isAllowed || hasNoKey || signedAt === undefined || !isProven()) return false;
    return isRenewalDue({ now: clock.now(), signedAt, behindSince: behind?.since, triedAt });
  };

  const sign = async (state: FreshRevision): Promise<void> => {
    hasNoKey = (await trust.signers()).length === 0;
    if (hasNoKey) return;
    if (behind !== undefined) {
      // The publisher, or another service, may have signed it since the last look.
      await deps.lookAgain();
      noteLive(state.revision);
      if (behind === undefined) return;
    }
    deps.adopt(await renewFreshness(deps, application, state));
    noteLive(state.revision);
  };

  return {
    allow: () => {
      isAllowed = true;
    },
    isBehind: () => behind !== undefined,
    isTakeOverDue: () => behind !== undefined && isDue(),
    renew: async (state) => {
      noteLive(state.revision);
      if (!isDue()) return;
      triedAt = clock.now();
      try {
        await sign(state);
        triedAt = undefined;
      } catch (error) {
        const facts = { application, err: error };
        if (isAppError(error, 'state_changed')) log.warn(facts, 'the timestamp is not renewed');
        else log.error(facts, 'cannot renew the signed timestamp');
      }
    },
  };
}
