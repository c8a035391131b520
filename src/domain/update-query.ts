import type { Arch, Format, Platform } from './platform.ts';
import type { ArtifactSignature } from './release.ts';
import type { Version } from './version.ts';

/** The question every client asks, in one form, whatever dialect it came in. */
export interface UpdateQuery {
  readonly application: string;
  readonly channel: string;
  /** Null when the client does not say: it then gets nothing that depends on it. */
  readonly currentVersion: Version | null;
  readonly platform: Platform;
  /** Null when the client does not say. */
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
  readonly signatureScheme: ArtifactSignature['scheme'] | null;
}
