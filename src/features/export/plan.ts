import { LASTING } from '../../answers/answer.ts';
import type { StaticContent, StaticFacts } from '../../store/static-target/static-target.ts';

/** The plan of an export: the documents and files that it writes, and the parts that it leaves out. */

export interface ExportPlan {
  readonly documents: readonly PlannedDocument[];
  readonly files: readonly PlannedFile[];
  readonly leftOut: readonly LeftOut[];
}

export interface PlannedDocument {
  /** The path below the address of the service, decoded: `feeds/desktop/stable/electron/latest.yml`. */
  readonly path: string;
  readonly body: Buffer;
  readonly contentType: string;
  /**
   * True when the address never gets other bytes. The export then writes the document before the other documents, which
   * may name it, and clients cache it for good. Absent: no.
   */
  readonly isLasting?: boolean;
}

export interface PlannedFile {
  readonly path: string;
  readonly application: string;
  readonly file: StoredFile;
  /**
   * True when the address gets other bytes with the next release. The export then writes the file after all other
   * files, and clients cache it as briefly as a document.
   */
  readonly isReplaced: boolean;
}

/** A file that the manifest of a release states. */
export interface StoredFile extends StaticContent {
  readonly filename: string;
  /** The name of the object, relative to the application. */
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
  /**
   * The versions of the releases that the entry concerns, the newest first; empty: the entry concerns no single
   * releases.
   */
  readonly versions: readonly string[];
  /** A sentence. */
  readonly detail: string;
}

/**
 * The caching of a document: one minute, because the next release changes the document. The service sends the same
 * header.
 */
export const DOCUMENT_CACHE = 'public, max-age=60';
/** The facts of a file. Its address contains its version, so its bytes never change. */
export const FILE_FACTS: StaticFacts = {
  contentType: 'application/octet-stream',
  cacheControl: LASTING,
};
