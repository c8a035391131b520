import { isRecord, type JsonRecord } from '../../core/json-record.ts';
import { PLATFORMS, type Platform, platformOf } from '../../domain/platform.ts';
import { platformOfMaker } from '../electron/electron-forge.ts';
import { recordOf, textOf } from './loose.ts';
import { compileRuns, type Manifest, replacedIn } from './package-json.ts';
import { type FoundTool, type PackageRun, stated } from './project.ts';
import {
  configurationFile,
  namesIn,
  readConfiguration,
  readText,
  withoutComments,
} from './project-files.ts';
import { textInSource } from './source-text.ts';
import { targetsOf } from './usual-target.ts';

/**
 * Reads how a project uses Electron Forge. In most projects, the configuration is a program. This file does not run the
 * program, but searches its text.
 */

const RUNS = /\belectron-forge\b/;
const FILE = /^forge\.config\.([cm]?[jt]s|json)$/;
const OUTPUT = 'out';
/** The limit bounds the time: `platformsInText` searches the whole configuration for each maker. */
const MAKERS_MAX = 50;

interface Maker {
  /** `squirrel`, `zip`, `deb`, … */
  readonly name: string;
  /** The platforms that the configuration states for the maker; empty: the maker's usual platforms. */
  readonly platforms: readonly Platform[];
}

interface Facts {
  readonly source: string;
  /** The path of the file that `source` describes. */
  readonly file: string;
  readonly name: string | undefined;
  /** The directory of all output. */
  readonly output: string;
  readonly makers: readonly Maker[];
}

export async function readElectronForge(
  directory: string,
  manifest: Manifest | undefined,
): Promise<FoundTool | undefined> {
  if (manifest === undefined) return undefined;
  const facts = await readFacts(directory, manifest);
  if (facts === undefined) return undefined;
  const platforms = PLATFORMS.filter(
    (platform) => facts.makers.length === 0 || facts.makers.some((maker) => makes(maker, platform)),
  );
  const updaters = updatersOf(facts.makers, manifest);
  return {
    kind: 'electron-forge',
    shownBy: facts.source,
    output: facts.output,
    platforms,
    targets: platforms.flatMap((platform) => targetsOf(platform, [])),
    name: stated(facts.name, `the name of the packagerConfig of ${facts.source}`),
    otherNames: [],
    version: undefined,
    build: { kind: 'packages', runs: runsOf(manifest) },
    updaters,
    // electron-updater does not read the configuration of Forge.
    ...(updaters.includes('electron') ? {} : { configuration: configurationFile(facts.file) }),
    replaced: replacedIn(manifest),
    packsSettings: true,
    remarks: [],
  };
}

async function readFacts(directory: string, manifest: Manifest): Promise<Facts | undefined> {
  const { forge } = recordOf(manifest.value.config);
  if (isRecord(forge)) return factsOfValue(forge, '"config.forge" in package.json', 'package.json');
  const file = textOf(forge) ?? (await namesIn(directory)).find((name) => FILE.test(name));
  if (file?.endsWith('.json')) {
    return factsOfValue((await readConfiguration(directory, file)) ?? {}, file);
  }
  const text = file === undefined ? undefined : await readText(directory, file);
  if (file !== undefined && text !== undefined) return factsOfText(withoutComments(text), file);
  const isAsked =
    manifest.packages.has('@electron-forge/cli') ||
    [...manifest.scripts.values()].some((command) => RUNS.test(command));
  return isAsked ? factsOfValue({}, 'package.json') : undefined;
}

function factsOfValue(value: JsonRecord, source: string, file = source): Facts {
  const makers = Array.isArray(value.makers) ? value.makers : [];
  return {
    source,
    file,
    name: textOf(recordOf(value.packagerConfig).name),
    output: outputOf(textOf(value.outDir), 'buildIdentifier' in value),
    makers: makers.flatMap((maker) => {
      const { name, platforms } = recordOf(maker);
      const kind = /maker-([\w-]{1,64})$/.exec(textOf(name) ?? '')?.[1];
      const words = Array.isArray(platforms) ? platforms : [];
      return kind === undefined
        ? []
        : [{ name: kind, platforms: words.flatMap((word) => platformOf(String(word)) ?? []) }];
    }),
  };
}

/** A program may name the package of a maker twice: where it imports the maker, and where it uses the maker. */
function factsOfText(text: string, file: string): Facts {
  const names = new Set(
    [...text.matchAll(/maker-([\w-]{1,64})['"`]/g)]
      .map(([, name]) => `${name}`)
      .slice(0, MAKERS_MAX),
  );
  return {
    source: file,
    file,
    name: textOf(/\bpackagerConfig\b[^}]{0,2000}?\bname\s*:\s*['"`]([^'"`\n]+)/.exec(text)?.[1]),
    output: outputOf(textOf(textInSource(text, 'outDir')), /\bbuildIdentifier\s*:/.test(text)),
    makers: [...names].map((name) => ({ name, platforms: platformsInText(text, name) })),
  };
}

/** The platforms in `new MakerZIP({}, ['darwin'])` or `{ name: '…/maker-zip', platforms: ['darwin'] }`. */
function platformsInText(text: string, maker: string): readonly Platform[] {
  const used = new RegExp(
    `\\bnew Maker${maker}\\(([^\\])]{0,2000})\\]|maker-${maker}['"\`]\\s*,\\s*platforms\\s*:\\s*\\[([^\\]]{0,2000})\\]`,
    'i',
  ).exec(text);
  const words = `${used?.[1] ?? ''}${used?.[2] ?? ''}`.matchAll(/['"](darwin|win32|linux)['"]/g);
  return [...words].flatMap(([, word]) => platformOf(`${word}`) ?? []);
}

function makes({ name, platforms }: Maker, platform: Platform): boolean {
  if (platforms.length > 0) return platforms.includes(platform);
  const own = platformOfMaker(name);
  return own === undefined || own === platform;
}

/** With an identifier, Forge writes `make` into a folder that has the identifier as its name. */
function outputOf(outDir: string | undefined, hasIdentifier: boolean): string {
  const path = (outDir ?? OUTPUT).replaceAll('\\', '/').replace(/^\.\/|\/+$/g, '');
  return hasIdentifier ? path : `${path}/make`;
}

function runsOf(manifest: Manifest): readonly PackageRun[] {
  const make = manifest.scripts.get('make');
  if (make !== undefined) return [{ kind: 'script', name: 'make', arguments: [] }];
  return [
    ...compileRuns(manifest, RUNS),
    { kind: 'program', name: 'electron-forge', arguments: ['make'] },
  ];
}

/**
 * The updaters of the application: electron-updater when the application has this package, else Electron's own
 * updaters.
 */
function updatersOf(makers: readonly Maker[], { packages }: Manifest): readonly string[] {
  if (packages.has('electron-updater')) return ['electron'];
  const has = (name: string) => makers.some((maker) => maker.name === name);
  const isForMac = makers.length === 0 || makers.some((maker) => makes(maker, 'macos'));
  return [
    ...(has('squirrel') || makers.length === 0 ? ['squirrel-windows'] : []),
    ...(has('msix') || has('appx') ? ['msix'] : []),
    ...(isForMac ? ['squirrel-mac'] : []),
  ];
}
