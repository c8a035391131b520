import { isRecord, type JsonRecord } from '../../core/json-record.ts';
import type { ConfigurationFile } from '../../domain/configuration-file.ts';
import { PLATFORMS, type Platform } from '../../domain/platform.ts';
import { nameInIdentifier } from './application-name.ts';
import { recordOf, textOf } from './loose.ts';
import { compileRuns, type Manifest, replacedIn } from './package-json.ts';
import { type FoundTool, type PackageRun, stated, statedAll } from './project.ts';
import {
  configurationFile,
  namesIn,
  readConfiguration,
  readText,
  withoutComments,
} from './project-files.ts';
import { textInSource, wordsInSection } from './source-text.ts';
import { targetsOf } from './usual-target.ts';

/**
 * Reads how a project uses electron-builder. Does not run a configuration in JavaScript or TypeScript, but searches its
 * text.
 */

const RUNS = /\belectron-builder\b/;
/** The files in the order in which electron-builder looks for them. Names with `config` are a widespread custom. */
const FILES = [
  'electron-builder.yml',
  'electron-builder.yaml',
  'electron-builder.json',
  'electron-builder.json5',
  'electron-builder.toml',
  'electron-builder.js',
  'electron-builder.cjs',
  'electron-builder.ts',
  'electron-builder.config.js',
  'electron-builder.config.cjs',
  'electron-builder.config.mjs',
  'electron-builder.config.ts',
  'electron-builder.config.yml',
  'electron-builder.config.json',
];
const USUAL = 'electron-builder.yml';
const OUTPUT = 'dist';
/** Sections of the configuration that are for one platform. */
const SECTIONS: Readonly<Record<Platform, readonly string[]>> = {
  windows: ['win', 'nsis', 'nsisWeb', 'squirrelWindows', 'portable', 'msi', 'appx'],
  macos: ['mac', 'dmg', 'pkg'],
  linux: ['linux', 'appImage', 'deb', 'rpm', 'snap', 'pacman', 'flatpak'],
};
const MAIN_SECTION = { windows: 'win', macos: 'mac', linux: 'linux' } as const;
const FLAGS: Readonly<Record<Platform, RegExp>> = {
  windows: /\s(--win(dows)?|-[ml]?w[ml]?l?)(?=\s|$)/,
  macos: /\s(--mac(os)?|-[wl]?m[wl]?l?|-o)(?=\s|$)/,
  linux: /\s(--linux|-[mw]{0,2}l[mw]{0,2})(?=\s|$)/,
};
/** A pattern in `files` that leaves out `.env`. */
const LEFT_OUT = /['"`]![^'"`\n]*\.env\b/;
/** Targets that users install only from an app store, or that are no packages. */
const NO_PACKAGES = /^(dir|mas|mas-dev)$/;

interface Facts {
  readonly source: string;
  readonly configuration: ConfigurationFile;
  /** The `publish` entries of the configuration, each with its provider: `"publish" (github)`. */
  readonly publish: readonly string[];
  readonly productName: string | undefined;
  readonly appId: string | undefined;
  readonly output: string | undefined;
  /** True when `files` leaves out `.env`. */
  readonly leavesOutSettings: boolean;
  /** For each platform that the configuration names: the words for architectures in its section. */
  readonly arches: ReadonlyMap<Platform, readonly string[]>;
}

export async function readElectronBuilder(
  directory: string,
  manifest: Manifest | undefined,
): Promise<FoundTool | undefined> {
  const scripts = [...(manifest?.scripts.values() ?? [])].filter((command) => RUNS.test(command));
  const isAsked = manifest?.packages.has('electron-builder') === true || scripts.length > 0;
  const stated = scripts.map(
    (command) => /\s(?:--config|-c)[= ]["']?([^\s"']+)/.exec(command)?.[1],
  );
  const given = stated.find((file) => file !== undefined);
  const facts = await readFacts(directory, manifest, isAsked, given);
  if (facts === undefined || manifest === undefined) return undefined;
  const platforms = platformsOf(facts, scripts);
  const ignored = facts.configuration.below === undefined ? undefined : await usualFile(directory);
  return {
    kind: 'electron-builder',
    shownBy: facts.source,
    output: outputOf(facts.output),
    platforms,
    targets: platforms.flatMap((platform) => targetsOf(platform, facts.arches.get(platform) ?? [])),
    ...namesOf(facts),
    version: undefined,
    build: { kind: 'packages', runs: runsOf(manifest, given) },
    updaters: ['electron'],
    configuration: facts.configuration,
    replaced: [...publishing(facts), ...replacedIn(manifest)],
    packsSettings: !facts.leavesOutSettings,
    remarks:
      ignored === undefined
        ? []
        : [`electron-builder reads ${facts.source}, and not ${ignored}. Keep one of them.`],
  };
}

async function readFacts(
  directory: string,
  manifest: Manifest | undefined,
  isAsked: boolean,
  given: string | undefined,
): Promise<Facts | undefined> {
  const own = manifest?.value.build;
  // Other tools have a `build` in package.json too.
  if (given === undefined && isRecord(own) && (isAsked || 'appId' in own || 'directories' in own)) {
    const file = { file: 'package.json', syntax: 'json', below: 'build' } as const;
    return factsOfValue(own, '"build" in package.json', file);
  }
  const file = given ?? (await usualFile(directory));
  if (file === undefined) {
    return isAsked ? factsOfValue({}, 'package.json', configurationFile(USUAL)) : undefined;
  }
  if (!/\.([cm]?js|ts)$/.test(file)) {
    const value = (await readConfiguration(directory, file)) ?? {};
    return factsOfValue(value, file, configurationFile(file));
  }
  return factsOfText((await readText(directory, file)) ?? '', file);
}

async function usualFile(directory: string): Promise<string | undefined> {
  const names = await namesIn(directory);
  return FILES.find((name) => names.includes(name));
}

function factsOfValue(value: JsonRecord, source: string, configuration: ConfigurationFile): Facts {
  const named = PLATFORMS.filter((platform) => SECTIONS[platform].some((name) => name in value));
  return {
    source,
    configuration,
    publish: publishIn(value),
    productName: textOf(value.productName),
    appId: textOf(value.appId),
    output: textOf(recordOf(value.directories).output),
    leavesOutSettings: patternsOf(value.files).some((pattern) => LEFT_OUT.test(`'${pattern}`)),
    arches: new Map(named.map((platform) => [platform, archesOf(value[MAIN_SECTION[platform]])])),
  };
}

/** `files` is a pattern, or a list of patterns and of records with a `filter`. */
function patternsOf(files: unknown): readonly unknown[] {
  const listOf = (value: unknown) => (Array.isArray(value) ? value : [value]);
  return listOf(files)
    .flatMap((each) => (isRecord(each) ? listOf(each.filter) : [each]))
    .filter((pattern) => typeof pattern === 'string');
}

/** `target` is a name, a target with its architectures, or a list of both. */
function archesOf(section: unknown): readonly string[] {
  const { target } = recordOf(section);
  const targets = Array.isArray(target) ? target : [target];
  return targets.flatMap((one) => {
    const { target: name, arch } = recordOf(one);
    if (typeof name === 'string' && NO_PACKAGES.test(name)) return [];
    return (Array.isArray(arch) ? arch : [arch]).filter((word) => typeof word === 'string');
  });
}

function factsOfText(source: string, file: string): Facts {
  const text = withoutComments(source);
  const named = PLATFORMS.filter((platform) =>
    SECTIONS[platform].some((name) => new RegExp(`\\b${name}['"]?\\s*[:=]\\s*\\{`).test(text)),
  );
  return {
    source: file,
    configuration: configurationFile(file),
    publish: publishInText(text),
    productName: textOf(textInSource(text, 'productName')),
    appId: textOf(textInSource(text, 'appId')),
    output: textOf(
      /\bdirectories['"]?\s*[:=]\s*\{[^}]{0,2000}?\boutput['"]?\s*:\s*['"`]([^'"`\n]+)/.exec(
        text,
      )?.[1],
    ),
    leavesOutSettings: LEFT_OUT.test(text),
    arches: new Map(
      named.map((platform) => [platform, wordsInSection(text, MAIN_SECTION[platform])]),
    ),
  };
}

/** The `publish` entries at the top and in the sections. electron-builder prefers the entry of a section. */
function publishIn(value: JsonRecord): readonly string[] {
  const sections = ['', ...Object.values(SECTIONS).flat()];
  return sections.flatMap((name) => {
    const { publish } = name === '' ? value : recordOf(value[name]);
    if (publish === undefined) return [];
    const [first] = Array.isArray(publish) ? publish : [publish];
    const { provider, url } = recordOf(first);
    if (isOurs(textOf(url))) return [];
    const kind = textOf(provider) ?? textOf(first);
    const key = name === '' ? 'publish' : `${name}.publish`;
    return [kind === undefined ? `"${key}"` : `"${key}" (${kind})`];
  });
}

/** The first `publish` entry in the text of a configuration that is a program. */
function publishInText(text: string): readonly string[] {
  const found = /\bpublish['"]?\s{0,20}[:=]([^}\]]{0,500})/.exec(text)?.[1];
  if (found === undefined || isOurs(/\burl['"]?\s*:\s*['"`]([^'"`\n]+)/.exec(found)?.[1]))
    return [];
  const kind = /^\s*\[?\s*['"`]([\w-]+)|\bprovider['"]?\s*:\s*['"`]([\w-]+)/.exec(found);
  const word = kind?.[1] ?? kind?.[2];
  return [`"publish"${word === undefined ? '' : ` (${word})`}`];
}

/** True when an address is a feed of Slipway. */
function isOurs(url: string | undefined): boolean {
  return /\/feeds\/[^/]+\/[^/]+\/electron(\?|$)/.test(url ?? '');
}

function publishing({ source, publish }: Facts): readonly string[] {
  return publish.length === 0
    ? []
    : [
        `${source} has ${publish.join(' and ')} already. Replace ${publish.length === 1 ? 'it' : 'them'} with these lines: electron-builder writes the address from there into the application.`,
      ];
}

/** The platforms that the configuration names, else the platforms that scripts name, else all platforms. */
function platformsOf({ arches }: Facts, scripts: readonly string[]): readonly Platform[] {
  if (arches.size > 0) return [...arches.keys()];
  const flagged = PLATFORMS.filter((platform) =>
    scripts.some((command) => FLAGS[platform].test(command)),
  );
  return flagged.length > 0 ? flagged : PLATFORMS;
}

/**
 * The folder of the packages. When a path has macros such as `${os}`, this is the folder above the macros, which
 * contains all packages.
 */
function outputOf(stated: string | undefined): string {
  const path = (stated ?? OUTPUT).replaceAll('\\', '/').replace(/^\.\//, '');
  const fixed = path.includes('${') ? path.replace(/\/?[^/]*\$\{.*$/, '') : path;
  return fixed.replace(/\/+$/, '') || OUTPUT;
}

function namesOf({ productName, appId, source }: Facts): Pick<FoundTool, 'name' | 'otherNames'> {
  return {
    name: stated(productName, `the productName of ${source}`),
    otherNames: statedAll(appId && nameInIdentifier(appId), `the appId of ${source}`),
  };
}

/** Adds `--publish never`. Otherwise electron-builder uploads to GitHub by itself when it builds a tag. */
function runsOf(manifest: Manifest, config: string | undefined): readonly PackageRun[] {
  const never = ['--publish', 'never'];
  const build = manifest.scripts.get('build');
  if (build !== undefined && RUNS.test(build.split(/&&|;/).at(-1) ?? '')) {
    return [{ kind: 'script', name: 'build', arguments: never }];
  }
  const options = config === undefined ? never : ['--config', config, ...never];
  return [
    ...compileRuns(manifest, RUNS),
    { kind: 'program', name: 'electron-builder', arguments: options },
  ];
}
