import type { ConfigurationFile } from '../domain/configuration-file.ts';
import type { Platform } from '../domain/platform.ts';
import type { SignatureScheme } from '../domain/signature.ts';
import type { Target } from '../domain/target.ts';

/**
 * The lines that a developer puts into an application, so that the application updates from a channel. `slipway feeds`
 * shows these lines.
 */

/** The feed of one channel in one dialect. */
export interface ChannelFeed {
  readonly application: string;
  /** Absolute, without a slash at its end: `https://updates.example.com/feeds/desktop/stable/electron`. */
  readonly url: string;
  /** True when clients must send an access token, because the channel is open to some accounts only. */
  readonly isRestricted: boolean;
  /** The known public keys that verify the application's signatures, in the form that its updater takes. */
  readonly publicKeys: Readonly<Partial<Record<SignatureScheme, string>>>;
  /** The configuration of the project's build tool. Absent: no project is known, or its tool has no configuration. */
  readonly configuration?: ConfigurationFile | undefined;
}

export interface SetUp {
  /**
   * The addresses that clients ask. A part that the updater fills in has the form of its variable, such as
   * `{{target}}`.
   */
  readonly addresses: readonly SetUpAddress[];
  readonly texts: readonly SetUpText[];
  /** Sentences about facts that the texts do not show. */
  readonly notes: readonly string[];
}

export interface SetUpAddress {
  readonly clients: string;
  readonly url: string;
  /**
   * The machines whose clients ask this address; absent: every machine that the dialect serves. Without `arch`, clients
   * of every architecture ask this address.
   */
  readonly machines?: { readonly platform: Platform; readonly arch?: Target['arch'] };
}

/** Lines to paste. */
interface SetUpText {
  /** The file that the lines go into, or the moment at which the application runs the lines. */
  readonly into: string;
  readonly text: string;
}
