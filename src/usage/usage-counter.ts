import type { DownloadKind } from './counts.ts';

/** Counts how often clients check for updates and get links. Learns nothing about the clients. */
export interface UsageCounter {
  /**
   * Counts an answered check of any protocol. Every check calls this function, so it is cheap. It never throws.
   *
   * The catalog has the application and the channel. `version` is the client's semantic version, or null when the
   * client does not state it. `offered` is the version in the answer, or null when the answer has no update.
   */
  countCheck(check: {
    readonly application: string;
    readonly channel: string;
    readonly platform: string;
    readonly version: string | null;
    readonly offered: string | null;
  }): void;
  /**
   * Counts a link to a file that a client got. Never throws.
   *
   * @param kind the kind of the download; undefined when the service does not see the download
   */
  countLink(
    link: {
      readonly application: string;
      readonly channel: string;
      readonly platform: string;
      readonly version: string;
    },
    kind?: DownloadKind,
  ): void;
}
