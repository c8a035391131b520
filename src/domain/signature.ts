/** Schemes of detached signatures that the publisher's build tools make and clients verify. */

/** A Tauri `.sig` file, as `tauri signer` writes it: base64 of a minisign signature. */
export const MINISIGN = 'minisign';

/**
 * A minisign signature signs this hash of a file; the text is Node's name for the hash. A legacy signature signs the
 * file itself.
 */
export const SIGNED_HASH = 'blake2b512';

/**
 * Sparkle's `edSignature`: base64 of an Ed25519 signature over the bytes of a file. WinSparkle and NetSparkle read this
 * signature too.
 */
export const SPARKLE_ED25519 = 'sparkle-ed25519';

export const SIGNATURE_SCHEMES = [MINISIGN, SPARKLE_ED25519] as const;
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** A detached signature over an artifact. The service stores it unchanged, and makes no signatures itself. */
export interface ArtifactSignature {
  readonly scheme: SignatureScheme;
  /** Hex, as the scheme prints key ids; empty when the scheme has none. */
  readonly keyId: string;
  /** The whole text of the signature file. */
  readonly value: string;
}
