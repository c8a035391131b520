/** Counts how often clients check for updates and get links. Learns nothing about the clients. */
export interface UsageCounter {
  /**
   * Counts an answered check, of any protocol. Called on every check: cheap, never throws.
   *
   * The catalog has the application and the channel. `version` is the client's semantic version, null when
   * the client does not state it; `offered` is the version in the answer, null for no update.
   */
  countCheck(check: {
    readonly application: string;
    readonly channel: string;
    readonly platform: string;
    readonly version: string | null;
    readonly offered: string | null;
  }): void;
  /** Counts a link to a file that a client got. Never throws. */
  countLink(link: {
    readonly application: string;
    readonly channel: string;
    readonly platform: string;
    readonly version: string;
  }): void;
}
