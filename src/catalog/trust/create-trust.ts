import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import {
  type ApplicationTrust,
  createApplicationTrust,
  type TrustCache,
} from './application-trust.ts';
import type { TrustRoot } from './root.ts';
import type { Signer } from './signer.ts';
import { openRootless, type Trust } from './trust.ts';

interface TrustSettings {
  /** The installed roots, by application. */
  readonly roots: ReadonlyMap<string, TrustRoot>;
  /** Applications that are served without a root although roots are installed. */
  readonly unsigned: ReadonlySet<string>;
  readonly signers: () => Promise<readonly Signer[]>;
  readonly freshMs: number;
}

interface TrustDeps extends TrustSettings {
  readonly store: ObjectStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly cacheOf?: ((application: string) => TrustCache) | undefined;
  readonly isRehearsal?: boolean;
}

export function createTrust(deps: TrustDeps): Trust {
  const { roots, unsigned, signers, freshMs, store, clock, cacheOf, isRehearsal = false } = deps;
  const opened = new Map<string, ApplicationTrust>();
  const withoutRoot = openRootless(store, (application) => unsigned.has(application));
  const refusalOf = (application: string): string | undefined => {
    if (roots === undefined || roots.has(application) || unsigned.has(application))
      return undefined;
    return `TRUST_ROOT has no root for ${application}. Add its root file, or name ${application} in TRUST_UNSIGNED.`;
  };
  return {
    applications: [...roots.keys()],
    signers,
    freshMs,
    isRehearsal,
    refusalOf,
    withoutRoot: (application) => (roots.has(application) ? undefined : withoutRoot(application)),
    rehearse: () => createTrust({ ...deps, isRehearsal: true }),
    signingWith: (keys, other) =>
      createTrust({ ...deps, store: other, signers: async () => keys, isRehearsal: false }),
    of: (application) => {
      const refusal = refusalOf(application);
      if (refusal !== undefined) throw new AppError('invalid_configuration', refusal);
      const anchor = roots.get(application);
      if (anchor === undefined) return undefined;
      const known = opened.get(application);
      if (known !== undefined) return known;
      const cache = cacheOf?.(application);
      const trust = createApplicationTrust({ store, clock, anchor, freshMs, cache });
      opened.set(application, trust);
      return trust;
    },
  };
}
