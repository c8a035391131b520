/** The settings of the service that commands read, too. */
export interface CommandSettings {
  readonly defaultApplication: string;
  readonly catalogPollMs: number;
}
