/** A file that configures the build tool of a project. */
export interface ConfigurationFile {
  /** Relative to the project. */
  readonly file: string;
  /** `javascript` is an object literal, in a program of JavaScript or TypeScript or in JSON5. */
  readonly syntax: 'yaml' | 'json' | 'toml' | 'javascript';
  /** The key that has the whole configuration, such as `build` in package.json; absent: the file has nothing else. */
  readonly below?: string;
}
