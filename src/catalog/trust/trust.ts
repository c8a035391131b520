import type { Clock } from '../../core/clock.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import type { OfferJson } from '../documents/revision-document.ts';
import type { MetadataReference } from '../documents/trust-document.ts';
import type { ApplicationTrust } from './application-trust.ts';
import type { SignedManifest } from './manifest-signature.ts';
import type { Signer } from './signer.ts';
import { createRootlessApplication, type RootlessApplication } from './without-root.ts';

/** Holds the roots that this process trusts, for all applications, and the keys with which it signs. */
export interface Trust {
  /**
   * Undefined for an application without a root: see `withoutRoot`.
   *
   * @throws AppError `invalid_configuration` when roots are installed, and none of them is for the application
   */
  of(application: string): ApplicationTrust | undefined;
  /** Guards an application whose root is not installed; undefined for an application with a root. */
  withoutRoot(application: string): RootlessApplication | undefined;
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

export interface SigningDeps {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly trust?: Trust | undefined;
  /** By channel: the next versions of roles, which have enough signatures already. */
  readonly signedRoles?: Readonly<Record<string, MetadataReference>> | undefined;
  /** True for a rehearsal of what happens once people have signed. */
  readonly assumesSigned?: boolean;
  /** True when the process must sign no role: people have seen and signed `signedRoles`, and nothing else. */
  readonly signsNoRole?: boolean;
}

/** What this process may offer on the channels that the root of trust delegates. */
export interface OfferRight {
  /**
   * True when earlier signatures cover the release, or the keys of this process reach the threshold of the channel.
   *
   * @param hasDraft true when the channel has a draft of the version. Where several people sign, they sign such a draft
   *   with `slipway sign`, which shows it: an operator may have put other files into it
   * @throws AppError `key_required` when the root names no keys for the channel
   */
  mayOffer(channel: string, statement: OfferJson | DraftJson, hasDraft?: boolean): boolean;
  /** True when the roles of the present revision cover the release. */
  isSigned(channel: string, statement: OfferJson | DraftJson): boolean;
  /**
   * True when the command signs the role of the channel with its own keys. Then it takes over only what a key of the
   * channel made: an operator may have put anything else there.
   *
   * @param hasDraft see {@link mayOffer}
   */
  signsFor(channel: string, hasDraft: boolean): boolean;
  /** True when a key of the channel made the manifest for this channel, or this very process did. */
  isMade(channel: string, manifest: SignedManifest): Promise<boolean>;
}

interface RootlessSettings extends Pick<Trust, 'signers' | 'freshMs'> {
  readonly store: ObjectStore;
  /** The applications that TRUST_UNSIGNED names. */
  readonly unsigned: ReadonlySet<string>;
}

/**
 * The trust of a process without a root. It verifies nothing, and refuses signed applications.
 *
 * @param settings.signers opens the keys that the operator gives, for example to make the first root
 */
export function createRootlessTrust(settings: RootlessSettings): Trust {
  const { store, unsigned, signers, freshMs } = settings;
  const withoutRoot = openRootless(store, (application) => unsigned.has(application));
  const trust: Trust = {
    applications: [],
    signers,
    freshMs,
    isRehearsal: false,
    refusalOf: () => undefined,
    withoutRoot,
    rehearse: () => trust,
    signingWith: () => trust,
    of: () => undefined,
  };
  return trust;
}

/** Requests to a service may name any number of applications. Above this limit, the process forgets what it found out. */
const ROOTLESS_MAX = 10_000;

/** @returns a function that keeps what it found out about each application */
export function openRootless(
  store: ObjectStore,
  isUnsigned: (application: string) => boolean,
): (application: string) => RootlessApplication {
  const opened = new Map<string, RootlessApplication>();
  return (application) => {
    const known = opened.get(application);
    if (known !== undefined) return known;
    if (opened.size >= ROOTLESS_MAX) opened.clear();
    const made = createRootlessApplication({
      store,
      application,
      isUnsigned: isUnsigned(application),
    });
    opened.set(application, made);
    return made;
  };
}
