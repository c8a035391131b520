import type { PackageManager, PackageRun, Project } from '../../builds/project/project.ts';
import { feedUrl, PLACEHOLDER } from '../../cli/feeds/describe-feeds.ts';
import type { Platform } from '../../domain/platform.ts';
import { type Target, targetName } from '../../domain/target.ts';
import { velopack } from '../../updaters/velopack/velopack.ts';
import type { Choices } from './choices.ts';

/**
 * The jobs that build a project on a CI service. `github-workflow.ts` and `gitlab-pipeline.ts` have the parts that
 * differ between the CI services.
 */

export interface BuildJobs {
  readonly jobs: readonly Job[];
  readonly needs: Needs;
  /** Names of secrets that the build reads from the environment. */
  readonly secrets: readonly string[];
  /** The value of `--expect`; empty when one job builds everything, or when the targets are not known. */
  readonly expect: string;
}

export interface Job {
  /** `windows`, or `windows-arm64` for a job that builds one target. */
  readonly name: string;
  readonly platform: Platform;
  readonly targets: readonly Target[];
  /** The words that differ between jobs: `runtime` and `program`. */
  readonly words: Readonly<Record<string, string>>;
  /** The path that the job publishes, relative to the project. */
  readonly files: string;
}

export interface Needs {
  readonly node: boolean;
  readonly rust: boolean;
  /** The version of the SDK, such as `8.0`; undefined: .NET is not needed. */
  readonly dotnet: string | undefined;
  /** Packages of Debian and Ubuntu. */
  readonly linuxPackages: readonly string[];
}

const SDK = '8.0';
const RUNTIME_NAMES: Readonly<Record<Platform, string>> = {
  windows: 'win',
  macos: 'osx',
  linux: 'linux',
};
const WEBKIT = { 1: 'libwebkit2gtk-4.0-dev', 2: 'libwebkit2gtk-4.1-dev' } as const;

export function planJobs(project: Project): BuildJobs {
  const { tool, packages } = project;
  const build = tool?.build;
  const jobs =
    build?.kind === 'dotnet' || build?.kind === 'vpk'
      ? jobsByTarget(project)
      : jobsByPlatform(project);
  return {
    jobs,
    needs: {
      node: packages !== undefined,
      rust: build?.kind === 'tauri',
      dotnet:
        build?.kind === 'dotnet' ? (build.sdk ?? SDK) : build?.kind === 'vpk' ? SDK : undefined,
      linuxPackages:
        build?.kind === 'tauri'
          ? [WEBKIT[build.major], 'libappindicator3-dev', 'librsvg2-dev', 'patchelf']
          : [],
    },
    secrets: build?.kind === 'tauri' ? signingSecrets(build.major) : [],
    expect: jobs.length > 1 ? (tool?.targets ?? []).map(targetName).join(',') : '',
  };
}

function jobsByPlatform({ tool }: Project): readonly Job[] {
  const platforms = tool?.platforms ?? (['linux'] as const);
  return platforms.map((platform) => ({
    name: platform,
    platform,
    targets: (tool?.targets ?? []).filter((target) => target.platform === platform),
    words: {},
    files: tool?.output ?? 'dist',
  }));
}

/** Plans one job for each target, because .NET builds one runtime at a time. */
function jobsByTarget({ tool }: Project): readonly Job[] {
  if (tool === undefined) return [];
  const { build, output, targets } = tool;
  return targets.map((target) => {
    const { platform, arch } = target;
    const suffix = platform === 'windows' ? '.exe' : '';
    const runtime = `${RUNTIME_NAMES[platform]}-${arch === 'ia32' ? 'x86' : arch}`;
    const program = build.kind === 'dotnet' ? `${build.program}${suffix}` : '';
    const isAlone = build.kind === 'dotnet' && build.packId === undefined;
    return {
      name: targetName(target),
      platform,
      targets: [target],
      words: { runtime, ...(program === '' ? {} : { program }) },
      files: isAlone
        ? `${output}/${program},os=${platform},arch=${arch},format=binary,name=${build.program}-${runtime}${suffix}`
        : output,
    };
  });
}

/** Tauri 1 has other names for the variables. */
function signingSecrets(major: 1 | 2): readonly string[] {
  return major === 1
    ? ['TAURI_PRIVATE_KEY', 'TAURI_KEY_PASSWORD']
    : ['TAURI_SIGNING_PRIVATE_KEY', 'TAURI_SIGNING_PRIVATE_KEY_PASSWORD'];
}

/** The expressions of a CI service for values that differ between jobs and releases. */
export interface Words {
  readonly runtime: string;
  readonly program: string;
  /** The version without a leading `v`. */
  readonly version: string;
}

/**
 * The command that downloads the newest release, so that vpk makes a delta from it. While the address of the service is
 * not known, the result is a comment.
 */
function downloadCommand({ application, channel, publicUrl }: Choices, options: string): string {
  const url = feedUrl({ publicUrl: publicUrl ?? PLACEHOLDER, application }, channel, velopack);
  const command = `tools/vpk download http --url ${argument(url)}${options}`;
  return publicUrl === undefined
    ? `# For deltas, once the service has an address: ${command}`
    : command;
}

/** The commands of the build, in the directory of the project. Undefined: the publisher has to write them. */
export function buildCommands(
  { tool, packages }: Project,
  choices: Choices,
  { runtime, program, version }: Words,
): readonly string[] | undefined {
  const build = tool?.build;
  const install = packages === undefined ? [] : installCommands(packages);
  if (build === undefined || build.kind === 'own') return undefined;
  const run = (one: PackageRun) => runCommand(packages, one);
  if (build.kind === 'packages') return [...install, ...build.runs.map(run)];
  if (build.kind === 'tauri') {
    const cargo = [
      `cargo install tauri-cli --version ^${build.major} --locked`,
      'cargo tauri build',
    ];
    return [...install, ...(build.run === undefined ? cargo : [run(build.run)])];
  }
  const vpk = 'dotnet tool install vpk --tool-path tools';
  const place = ` --outputDir ${argument(tool?.output ?? '')}${channelOption(tool?.targets ?? [], runtime)}`;
  const pack = (id: string, directory: string, more: string) => [
    vpk,
    downloadCommand(choices, place),
    `tools/vpk pack --packId ${argument(id)} --packVersion "${version}" --packDir ${directory} --runtime "${runtime}"${more}${place}`,
  ];
  if (build.kind === 'vpk') {
    return [...install, ...build.runs.map(run), ...pack(build.packId, 'dist', '')];
  }
  const publish = `dotnet publish ${argument(build.projectFile)} --configuration Release --runtime "${runtime}" --self-contained --output publish -p:Version="${version}"`;
  if (build.packId === undefined) {
    return [`${publish} -p:PublishSingleFile=true -p:IncludeNativeLibrariesForSelfExtract=true`];
  }
  return [publish, ...pack(build.packId, 'publish', ` --mainExe "${program}"`)];
}

/**
 * When a platform has packages for several architectures, each architecture needs its own channel: see the Velopack
 * page.
 */
function channelOption(targets: readonly Target[], runtime: string): string {
  const platforms = targets.map(({ platform }) => platform);
  return new Set(platforms).size === platforms.length ? '' : ` --channel "${runtime}"`;
}

const LOCKED: Readonly<Record<PackageManager['name'], readonly string[]>> = {
  npm: ['npm ci'],
  yarn: ['corepack enable', 'yarn install --frozen-lockfile'],
  pnpm: ['corepack enable', 'pnpm install --frozen-lockfile'],
  bun: ['npm install --global bun', 'bun install --frozen-lockfile'],
};

function installCommands({ name, hasLockFile }: PackageManager): readonly string[] {
  return hasLockFile ? LOCKED[name] : ['npm install'];
}

const PROGRAMS: Readonly<Record<PackageManager['name'], string>> = {
  npm: 'npx',
  yarn: 'yarn run',
  pnpm: 'pnpm exec',
  bun: 'bunx',
};

/** Only npm needs `--` before the arguments of a script. */
function runCommand(packages: PackageManager | undefined, run: PackageRun): string {
  const manager = packages?.name ?? 'npm';
  const given = run.arguments.map(argument);
  if (run.kind === 'program') return [PROGRAMS[manager], run.name, ...given].join(' ');
  const separator = manager === 'npm' && given.length > 0 ? ['--'] : [];
  return [manager, 'run', run.name, ...separator, ...given].join(' ');
}

/**
 * One argument of a shell or of PowerShell. `plain-tool.ts` has left out names that the two shells read differently.
 */
function argument(text: string): string {
  return /^[\w./@:^-]+$/.test(text) ? text : `"${text}"`;
}
