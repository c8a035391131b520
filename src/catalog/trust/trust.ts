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

/** Whom this process trusts, for all applications, and with which keys it signs. */
export interface Trust {
  /**
   * Undefined for an application that needs no signatures.
   *
   * @throws AppError `invalid_configuration` when roots are installed, and none of them is for the application
   */
  of(application: string): ApplicationTrust | undefined;
  /** True when the operator of this process wants no verification of the application. */
  isUnsigned(application: string): boolean;
  /** Why the process must not serve an application; undefined when it may. */
  refusalOf(application: string): string | undefined;
  /** The applications with an installed root. */
  readonly applications: readonly string[];
  /**
   * Opens the keys with which this process signs; none: it signs nothing. A person may have to type a passphrase, so
   * only a process that signs calls this function.
   *
   * @throws AppError `invalid_configuration`, `key_required`
   */
  signers(): Promise<readonly Signer[]>;
  /** The time for which a timestamp is valid, in milliseconds. */
  readonly freshMs: number;
  /** True when changes are only tried: nothing is signed, and revisions of this process count without a signature. */
  readonly isRehearsal: boolean;
  /** The same roots and keys for changes that are only tried. */
  rehearse(): Trust;
  /** The same roots with other keys, in a store: a change of the root is tried in memory first. */
  signingWith(signers: readonly Signer[], store: ObjectStore): Trust;
}

interface TrustSettings {
  /** The installed roots, by application. Undefined: no root is installed, and nothing is verified. */
  readonly roots: ReadonlyMap<string, TrustRoot> | undefined;
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
  const refusalOf = (application: string): string | undefined => {
    if (roots === undefined || roots.has(application) || unsigned.has(application))
      return undefined;
    return `TRUST_ROOT has no root for ${application}. Add its root file, or name ${application} in TRUST_UNSIGNED.`;
  };
  return {
    applications: [...(roots?.keys() ?? [])],
    signers,
    freshMs,
    isRehearsal,
    refusalOf,
    isUnsigned: (application) => unsigned.has(application),
    rehearse: () => createTrust({ ...deps, isRehearsal: true }),
    signingWith: (keys, other) =>
      createTrust({ ...deps, store: other, signers: async () => keys, isRehearsal: false }),
    of: (application) => {
      const refusal = refusalOf(application);
      if (refusal !== undefined) throw new AppError('invalid_configuration', refusal);
      const anchor = roots?.get(application);
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

/**
 * Verifies the revisions of an application that needs no signatures: refuses a signed one. A publisher without the root
 * would commit an unsigned revision, which no service accepts.
 *
 * @throws AppError `invalid_configuration`
 */
export function refuseSigned(
  application: string,
  {
    signed,
    signatures = [],
  }: { signed: { trust?: unknown }; signatures?: readonly unknown[] | undefined },
): void {
  if (signed.trust === undefined && signatures.length === 0) return;
  throw new AppError(
    'invalid_configuration',
    `The catalog of ${application} is signed, and no root of trust is installed here. Set TRUST_ROOT to the root file of ${application}, which "slipway trust init" wrote. To read it without any verification, name ${application} in TRUST_UNSIGNED.`,
  );
}
