/** Schemes of detached signatures that the publisher's build tools make and clients verify. */

/** A Tauri `.sig` file, as `tauri signer` writes it: base64 of a minisign signature. */
export const MINISIGN = 'minisign';

/** The hash of a file that a minisign signature is over, unless it is a legacy one. Node's name of it. */
export const SIGNED_HASH = 'blake2b512';

export const SIGNATURE_SCHEMES = [MINISIGN] as const;
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** A detached signature over an artifact. The service stores it unchanged, and makes no signatures itself. */
export interface ArtifactSignature {
  readonly scheme: SignatureScheme;
  /** Hex, as the scheme prints key ids; empty when the scheme has none. */
  readonly keyId: string;
  /** The whole text of the signature file. */
  readonly value: string;
}
