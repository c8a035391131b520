import type { SignatureScheme } from './signature.ts';

/** The code signature of a build, and the conditions under which its updater accepts an update. */
export interface SigningFacts {
  /** The subject of the Authenticode signer as Windows writes it; null: the program is not signed; absent: unknown. */
  readonly publisher?: string | null;
  /**
   * The issuer of the publisher's certificate as Windows writes it; null: the certificate is signed with its own key;
   * absent: unknown, or there is no publisher.
   */
  readonly issuer?: string | null;
  /**
   * The publishers whose updates electron-updater in this build accepts: `publisherName` in `app-update.yml`. Empty: it
   * accepts every publisher; absent: unknown.
   */
  readonly acceptedPublishers?: readonly string[];
  /** Apple's Team ID; null: no team signed the application; absent: unknown. */
  readonly team?: string | null;
  /** True when the application runs with Apple's hardened runtime; absent: unknown. */
  readonly hardenedRuntime?: boolean;
  /** True when Apple's notarization ticket is stapled to the application; absent: unknown. */
  readonly ticket?: boolean;
  /** The public keys with which the build verifies its updates; absent: unknown, or none. */
  readonly trustedKeys?: readonly TrustedKey[];
}

export interface TrustedKey {
  readonly scheme: SignatureScheme;
  /** The text as in the settings of the application. */
  readonly key: string;
}

/**
 * Rules for new releases. `publisher`: Windows programs are signed by a publisher that earlier releases accept. `team`:
 * macOS applications are signed by the same team. `ticket`: they have Apple's ticket and the hardened runtime. `key`:
 * earlier releases trust the key of each Tauri and Sparkle signature.
 */
export const REQUIREMENTS = ['publisher', 'team', 'ticket', 'key'] as const;
export type Requirement = (typeof REQUIREMENTS)[number];
