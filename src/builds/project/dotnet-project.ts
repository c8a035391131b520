import { posix } from 'node:path';
import { isAppError } from '../../core/errors.ts';
import { childrenOf, childText, parseXml, type XmlElement } from '../../core/xml.ts';
import { PLATFORMS, type Platform, platformOf } from '../../domain/platform.ts';
import type { Target } from '../../domain/target.ts';
import { misuse } from '../refusal.ts';
import { textOf } from './loose.ts';
import { type FoundTool, stated, statedAll } from './project.ts';
import { findFiles, readText } from './project-files.ts';
import { targetsOf } from './usual-target.ts';

/** Reads project files of .NET. `vpk` packs a project with Velopack. */

const PROJECT_FILE = /\.(cs|fs|vb)proj$/i;
const FILES_MAX = 50;
export const VELOPACK_OUTPUT = 'Releases';
const PUBLISHED = 'publish';

interface Application {
  /** Relative to the project. */
  readonly file: string;
  readonly root: XmlElement;
  readonly packages: ReadonlySet<string>;
}

/** @throws AppError `invalid_request` for a project file that is not well-formed */
export async function readDotnet(directory: string): Promise<FoundTool | undefined> {
  const applications = await findApplications(directory);
  const withVelopack = applications.find(({ packages }) => packages.has('velopack'));
  const application = withVelopack ?? applications[0];
  if (application === undefined) return undefined;
  const command = await findPackCommand(directory);
  const isVelopack = withVelopack !== undefined || command !== undefined;
  const { file, root } = application;
  const program = property(root, 'AssemblyName') ?? posix.basename(file).replace(PROJECT_FILE, '');
  const targets = targetsIn(root);
  return {
    kind: isVelopack ? 'velopack' : 'dotnet',
    shownBy: withVelopack === undefined ? (command?.file ?? file) : file,
    output: isVelopack ? (command?.output ?? VELOPACK_OUTPUT) : PUBLISHED,
    platforms: PLATFORMS.filter((platform) =>
      targets.some((target) => target.platform === platform),
    ),
    targets,
    name: stated(property(root, 'Product'), `the Product of ${file}`),
    otherNames: statedAll(program, `the name of the program of ${file}`),
    version: stated(property(root, 'Version') ?? property(root, 'VersionPrefix'), file),
    build: {
      kind: 'dotnet',
      projectFile: file,
      program,
      packId: isVelopack ? (command?.packId ?? program) : undefined,
      sdk: /^net(\d+\.\d+)/.exec(frameworksOf(root))?.[1],
    },
    updaters: updatersOf(application, isVelopack),
    remarks: [],
  };
}

function updatersOf(application: Application, isVelopack: boolean): readonly string[] {
  if (isVelopack) return ['velopack'];
  return hasNetSparkle(application) ? ['netsparkle'] : [];
}

/** The projects that make a program, except projects of tests. */
async function findApplications(directory: string): Promise<readonly Application[]> {
  const files = (await findFiles(directory, PROJECT_FILE)).slice(0, FILES_MAX);
  const applications: Application[] = [];
  for (const file of files) {
    const root = await readProjectFile(directory, file);
    const packages = new Set(
      childrenOf(root, 'ItemGroup')
        .flatMap((group) => childrenOf(group, 'PackageReference'))
        .map(({ attributes }) => (attributes.Include ?? '').toLowerCase()),
    );
    const isProgram = /^(win)?exe$/i.test(property(root, 'OutputType') ?? '');
    const isTest = packages.has('microsoft.net.test.sdk');
    if ((isProgram || packages.has('velopack')) && !isTest) {
      applications.push({ file, root, packages });
    }
  }
  return applications;
}

async function readProjectFile(directory: string, file: string): Promise<XmlElement> {
  try {
    return parseXml((await readText(directory, file)) ?? '');
  } catch (error) {
    if (!isAppError(error, 'invalid_request')) throw error;
    throw misuse(
      posix.join(directory, file),
      `${error.message} Correct it, and run the command again`,
    );
  }
}

/** The first value of a property. Values that refer to another property do not count. */
function property(root: XmlElement, name: string): string | undefined {
  const values = childrenOf(root, 'PropertyGroup').flatMap((group) => childText(group, name) ?? []);
  return textOf(values.find((value) => value !== '' && !value.includes('$(')));
}

/**
 * The targets of the runtimes that the project names. Without runtimes, a project for a Windows framework is for
 * Windows, and any other project is for all platforms.
 */
function targetsIn(root: XmlElement): readonly Target[] {
  const stated = property(root, 'RuntimeIdentifiers') ?? property(root, 'RuntimeIdentifier') ?? '';
  const targets = stated.split(';').flatMap((runtime) => targetOfRuntime(runtime.trim()));
  if (targets.length > 0) return targets;
  const isForWindows =
    /-windows|^net4/i.test(frameworksOf(root)) ||
    ['UseWPF', 'UseWindowsForms'].some((name) => /^true$/i.test(property(root, name) ?? ''));
  const platforms: readonly Platform[] = isForWindows ? ['windows'] : PLATFORMS;
  return platforms.flatMap((platform) => targetsOf(platform, []));
}

function frameworksOf(root: XmlElement): string {
  return property(root, 'TargetFrameworks') ?? property(root, 'TargetFramework') ?? '';
}

/** `win-x64`, `osx-arm64`, `linux-musl-x64`. */
function targetOfRuntime(runtime: string): readonly Target[] {
  const parts = runtime.split('-');
  // `win10-x64` is the older form.
  const platform = platformOf((parts[0] ?? '').replace(/\d[\d.]*$/, ''));
  const arch = parts.at(-1) ?? '';
  return platform === undefined || parts.length < 2 ? [] : targetsOf(platform, [arch]);
}

function hasNetSparkle({ packages }: Application): boolean {
  return [...packages].some((name) => name.startsWith('netsparkleupdater.'));
}

/** A call of `vpk pack` in a script or a CI file of the project. */
interface PackCommand {
  /** Relative to the project. */
  readonly file: string;
  readonly packId: string | undefined;
  readonly output: string | undefined;
}

const SCRIPTS = /\.(ps1|sh|cmd|bat|ya?ml|cake|cs)$|^(Makefile|justfile|package\.json)$/i;
const SCRIPTS_MAX = 100;
const PACK = /\bvpk(?:\.exe)?\s+(?:\[\w+\]\s+)?pack\b((?:[\\`^]\r?\n|[^\n])*)/;

/** Searches the text of the scripts beside the project, and of the project's CI files. */
async function findPackCommand(directory: string): Promise<PackCommand | undefined> {
  const here = await findFiles(directory, SCRIPTS, 1);
  const inCi = await findFiles(`${directory}/.github/workflows`, /\.ya?ml$/i, 1);
  const files = [...here, ...inCi.map((file) => `.github/workflows/${file}`)];
  for (const file of files.slice(0, SCRIPTS_MAX)) {
    const options = PACK.exec((await readText(directory, file)) ?? '')?.[1];
    if (options === undefined) continue;
    return {
      file,
      packId: readOption(options, '--packId|-u'),
      output: readOption(options, '--outputDir|-o'),
    };
  }
  return undefined;
}

/** The value of an option; undefined when the script computes the value. */
function readOption(options: string, names: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)(?:${names})[ =]+(["']?)([\\w./\\\\-]+)\\1(?=\\s|$)`).exec(
    options,
  );
  return found?.[2]?.replaceAll('\\', '/').replace(/^\.\//, '');
}
