import type { Arch, Format, Platform } from './platform.ts';
import type { SignatureScheme } from './signature.ts';
import type { Version } from './version.ts';

/** The most characters of a name, a version or an id that a client states. */
export const WORD_LENGTH_MAX = 128;

/** A client's question for an update, in any protocol. */
export interface UpdateQuery {
  readonly application: string;
  readonly channel: string;
  /** Null when the client does not state its version: the client then gets no release with `requires`. */
  readonly currentVersion: Version | null;
  readonly platform: Platform;
  /**
   * Null when the client does not state its architecture. An updater then chooses among the files by itself, so a
   * release must have files for every architecture that older releases have. A visitor then gets a build for the usual
   * architecture.
   */
  readonly arch: Arch | null;
  /** The formats that the client can install, best first; null: the usual ones of the platform and purpose. */
  readonly formats: readonly Format[] | null;
  readonly osVersion: string | null;
  /**
   * The side that compares versions of the system. `client`: the answer states the minimum, and the client checks it.
   */
  readonly osGate: 'server' | 'client';
  /** A stable and anonymous id of the installation, for rollouts. */
  readonly installationId: string | null;
  /** True when a person asks by hand: see `Channel.givesEarlyAccess`. */
  readonly isManual: boolean;
  /** True when the client accepts an older version than its own: see `Channel.allowsDowngrade`. */
  readonly allowDowngrade: boolean;
  /** `download`: a visitor with a browser. `update`: an updater. */
  readonly purpose: 'download' | 'update';
  /** The signature that the client requires; null: none. */
  readonly signatureScheme: SignatureScheme | null;
  /**
   * True when the client states no version, and installs what it is offered without comparing versions. The service
   * never offers such a client a release that may be older than the client's own release. Absent: no.
   */
  readonly installsOlder?: boolean;
}

/** The part of a query that decides which artifacts the machine can install. */
export type MachineQuery = Pick<
  UpdateQuery,
  'platform' | 'arch' | 'formats' | 'osVersion' | 'osGate' | 'purpose' | 'signatureScheme'
>;

/** The query of a visitor when only the machine is known. */
export function visitorOn(platform: Platform, arch: Arch | null): MachineQuery {
  return {
    platform,
    arch,
    formats: null,
    osVersion: null,
    // The website shows the required system version, and the visitor checks it.
    osGate: 'client',
    purpose: 'download',
    signatureScheme: null,
  };
}
