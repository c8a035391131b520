import type { Arch, Format, Platform } from './platform.ts';
import type { SignatureScheme } from './signature.ts';
import type { Version } from './version.ts';

/** The question every client asks, in one form, whatever dialect it came in. */
export interface UpdateQuery {
  readonly application: string;
  readonly channel: string;
  /** Null when the client does not say: it then gets nothing that depends on it. */
  readonly currentVersion: Version | null;
  readonly platform: Platform;
  /**
   * Null when the client does not say. An updater then chooses among the files by itself, so that a release
   * must have those of every architecture that is out; a person gets the usual architecture.
   */
  readonly arch: Arch | null;
  /** The formats it can install, best first; null: whatever suits the platform and purpose. */
  readonly formats: readonly Format[] | null;
  readonly osVersion: string | null;
  /** `client`: the dialect carries the minimum and the client holds itself to it. */
  readonly osGate: 'server' | 'client';
  /** Stable and anonymous; for rollouts. */
  readonly installationId: string | null;
  /** A person at a download button, or an updater. */
  readonly purpose: 'download' | 'update';
  /** A signature without which the client would refuse the file. */
  readonly signatureScheme: SignatureScheme | null;
}

/** What of a question decides which artifacts suit the machine. */
export type MachineQuery = Pick<
  UpdateQuery,
  'platform' | 'arch' | 'formats' | 'osVersion' | 'osGate' | 'purpose' | 'signatureScheme'
>;

/** A person at a download button who has said nothing but the machine. */
export function visitorOn(platform: Platform, arch: Arch | null): MachineQuery {
  return {
    platform,
    arch,
    formats: null,
    osVersion: null,
    // The person sees what the system requires; a button cannot.
    osGate: 'client',
    purpose: 'download',
    signatureScheme: null,
  };
}
