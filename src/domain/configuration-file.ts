/** A file that configures the build tool of a project. */
export interface ConfigurationFile {
  /** Relative to the project. */
  readonly file: string;
  /** `javascript`: an object literal in JavaScript, TypeScript or JSON5. */
  readonly syntax: 'yaml' | 'json' | 'toml' | 'javascript';
  /**
   * The key whose value is the whole configuration, such as `build` in package.json; absent: the whole file is the
   * configuration.
   */
  readonly below?: string;
}
