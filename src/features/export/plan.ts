import { LASTING } from '../../server/http/cache-control.ts';
import type { StaticContent, StaticFacts } from '../../store/static-target/static-target.ts';

/** What an export writes, and what it leaves out. */

export interface ExportPlan {
  readonly documents: readonly PlannedDocument[];
  readonly files: readonly PlannedFile[];
  readonly leftOut: readonly LeftOut[];
}

export interface PlannedDocument {
  /** Below the address of the service, decoded: `feeds/desktop/stable/electron/latest.yml`. */
  readonly path: string;
  readonly body: Buffer;
  readonly contentType: string;
}

export interface PlannedFile {
  readonly path: string;
  readonly application: string;
  readonly file: StoredFile;
  /** Whether the address has other bytes after the next release: it is then written together with the documents. */
  readonly isReplaced: boolean;
}

/** A file of a release, as its manifest states it. */
export interface StoredFile extends StaticContent {
  readonly filename: string;
  /** Relative to the application. */
  readonly object: string;
}

type LeftOutReason =
  | 'restricted_channel'
  | 'rollout'
  | 'paused'
  | 'requires'
  | 'minimum_system'
  | 'needs_server'
  | 'unverified'
  | 'unanswered_address';

/** Something that the service does and the export does not. */
export interface LeftOut {
  readonly reason: LeftOutReason;
  readonly application: string;
  /** Null: every channel. */
  readonly channel: string | null;
  /** Null: every dialect. */
  readonly dialect: string | null;
  /** The releases that it is about, newest first; empty: not about single releases. */
  readonly versions: readonly string[];
  /** A sentence. */
  readonly detail: string;
}

/** A document has another answer after the next release, as the cache headers of the service say too. */
export const DOCUMENT_CACHE = 'public, max-age=60';
/** The address of a file contains its version, so its bytes never change. */
export const FILE_FACTS: StaticFacts = {
  contentType: 'application/octet-stream',
  cacheControl: LASTING,
};
