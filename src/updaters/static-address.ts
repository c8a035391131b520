import type { CompanionKind } from '../domain/companion.ts';
import type { ArtifactIdentity } from '../domain/release.ts';

/**
 * The addresses of a dialect's documents, one by one. `slipway export` asks the service for each address like a client
 * without credentials and without an id, and writes the answers into a bucket or a directory.
 */

/** The facts of a channel from which a dialect makes its addresses. */
export interface StaticChannel {
  /** The name of the channel in the address of the feed. */
  readonly name: string;
  /** Every channel of the application that clients without an access token see, including this channel. */
  readonly channels: readonly string[];
  /** Each kind of file that the releases of the channel have. */
  readonly builds: readonly ArtifactIdentity[];
  /**
   * Every version that a client may have, newest first: also versions of other channels, and yanked or retired
   * versions.
   */
  readonly versions: readonly string[];
  /** The files of the releases that every client may get, newest release first. */
  readonly files: readonly StaticFile[];
}

export interface StaticFile extends ArtifactIdentity {
  readonly version: string;
  readonly filename: string;
  /** Set for a companion. The identity is then the identity of its artifact. */
  readonly kind?: CompanionKind;
}

export interface StaticAddress {
  /**
   * The segments after the dialect's name, decoded: `['darwin', 'aarch64', '1.0.0']`. The export writes nothing for an
   * address that the service answers with 204 or 404, so a dialect may name addresses that have no document.
   */
  readonly path: readonly string[];
  /**
   * The document that the export writes at this address when the service says "no update" without a document. Set only
   * for clients that compare versions themselves, because other clients install every update that they get.
   */
  readonly standIn?: StandIn;
}

interface StandIn {
  /**
   * Another address of the dialect. The export writes the document of that address, when `isNoUpdate` accepts the
   * document.
   */
  readonly path: readonly string[];
  isNoUpdate(document: string): boolean;
}
