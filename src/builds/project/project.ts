import type { ConfigurationFile } from '../../domain/configuration-file.ts';
import type { Platform } from '../../domain/platform.ts';
import type { Target } from '../../domain/target.ts';

/** The facts about building and releasing a project. Slipway reads them from files, and runs no code of the project. */
export interface Project {
  /** Absolute. */
  readonly directory: string;
  /** The directory of the Git repository, absolute; `directory` when the project is in no repository. */
  readonly root: string;
  /** The build tool; undefined: no build tool is known. */
  readonly tool: FoundTool | undefined;
  /** Further build tools that the files show. */
  readonly others: readonly FoundTool[];
  /** A name that Slipway accepts for an application, and the source of the name. */
  readonly application: Stated;
  /** The name for readers; undefined: no file states one. */
  readonly productName: Stated | undefined;
  readonly version: Stated | undefined;
  /** Undefined for a project without a package.json. */
  readonly packages: PackageManager | undefined;
  readonly ci: FoundCi;
}

/** A value, and what states it: `the productName in electron-builder.yml`. */
export interface Stated {
  readonly text: string;
  readonly source: string;
}

/** A value with its source; undefined for a missing or empty value. */
export function stated(text: string | undefined, source: string): Stated | undefined {
  return text === undefined || text === '' ? undefined : { text, source };
}

/** A list of one value with its source; empty for a missing or empty value. */
export function statedAll(text: string | undefined, source: string): readonly Stated[] {
  const one = stated(text, source);
  return one === undefined ? [] : [one];
}

export type ToolKind =
  | 'tauri'
  | 'velopack'
  | 'electron-builder'
  | 'electron-forge'
  | 'sparkle'
  | 'dotnet';

export interface FoundTool {
  readonly kind: ToolKind;
  /** The file that shows the tool, relative to the project: `electron-builder.yml`. */
  readonly shownBy: string;
  /** The directory of the packages, relative to the project, with `/`. */
  readonly output: string;
  readonly platforms: readonly Platform[];
  /** The targets that a build makes on machines of these platforms; empty: not known. */
  readonly targets: readonly Target[];
  /** The name of the application for readers; undefined: the configuration states none. */
  readonly name: Stated | undefined;
  /** Other names, from identifiers and files, best first. The names in package.json come before these names. */
  readonly otherNames: readonly Stated[];
  readonly version: Stated | undefined;
  readonly build: Build;
  /** The updaters of the application, by the names of their dialects. */
  readonly updaters: readonly string[];
  /** The public key of the updater, when the configuration has it. */
  readonly publicKey?: string;
  /** The file that configures the tool and its updater; absent: no such file is known. */
  readonly configuration?: ConfigurationFile;
  /**
   * Sentences about parts that set another address for the updater: the publisher must remove these parts. Absent: no
   * such part is known.
   */
  readonly replaced?: readonly string[];
  /** True when the tool may pack a `.env` of the project into the application; absent: it does not. */
  readonly packsSettings?: boolean;
  /** Sentences on what the configuration lacks. */
  readonly remarks: readonly string[];
}

/** The way in which CI runs the tool. */
export type Build =
  /** Scripts of package.json and programs of its packages. CI runs them in the order of the list. */
  | { readonly kind: 'packages'; readonly runs: readonly PackageRun[] }
  | {
      readonly kind: 'tauri';
      readonly major: 1 | 2;
      /** Undefined: the tool is installed with Cargo. */
      readonly run: PackageRun | undefined;
    }
  | {
      readonly kind: 'dotnet';
      /** Relative to the project. */
      readonly projectFile: string;
      /** The name of the program, without its extension. */
      readonly program: string;
      /** The id for `vpk pack`; undefined without Velopack. */
      readonly packId: string | undefined;
      /** The version of the SDK: `8.0`; undefined: the project states none. */
      readonly sdk: string | undefined;
    }
  /** Scripts that compile the application, and then `vpk pack`. */
  | { readonly kind: 'vpk'; readonly runs: readonly PackageRun[]; readonly packId: string }
  /** A build that cannot be known. */
  | { readonly kind: 'own' };

export interface PackageRun {
  /** `script`: a script of package.json; `program`: a program of an npm package. */
  readonly kind: 'script' | 'program';
  readonly name: string;
  readonly arguments: readonly string[];
}

export interface PackageManager {
  readonly name: 'npm' | 'yarn' | 'pnpm' | 'bun';
  readonly hasLockFile: boolean;
}

export interface FoundCi {
  readonly kind: 'github' | 'gitlab' | undefined;
  /** What shows the CI service: `.gitlab-ci.yml`; empty when nothing shows a service. */
  readonly shownBy: string;
  /** CI files that name Slipway, relative to the root of the repository. */
  readonly publishing: readonly string[];
  /** The last stage that an existing `.gitlab-ci.yml` states; undefined: it states none. */
  readonly lastStage: string | undefined;
}
