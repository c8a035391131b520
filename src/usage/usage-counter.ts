/** What is counted of the service's use: how often something was asked and handed out, nothing of by whom. */
export interface UsageCounter {
  /**
   * A question that was answered, by whichever dialect. Called on every check: cheap, never throws.
   *
   * The names of application and channel are ones that the catalog has; the versions are texts of
   * semantic versions, the client's own (null when it does not say) and the one it was offered.
   */
  countCheck(check: {
    readonly application: string;
    readonly channel: string;
    readonly platform: string;
    readonly version: string | null;
    readonly offered: string | null;
  }): void;
  /** A link to a file that was handed out. */
  countLink(link: {
    readonly application: string;
    readonly channel: string;
    readonly platform: string;
    readonly version: string;
  }): void;
}
