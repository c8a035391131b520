import type { JsonRecord } from '../../core/json-record.ts';
import { PLATFORMS, type Platform } from '../../domain/platform.ts';
import { nameInIdentifier } from './application-name.ts';
import { recordOf, textOf } from './loose.ts';
import type { Manifest } from './package-json.ts';
import { type FoundTool, type PackageRun, type Stated, stated, statedAll } from './project.ts';
import { configurationFile, readConfiguration } from './project-files.ts';
import { readCargoVersion } from './source-names.ts';
import { targetsOf } from './usual-target.ts';

/** Reads how a project uses Tauri 1 or 2. */

const FILES = ['tauri.conf.json', 'tauri.conf.json5', 'Tauri.toml'];
/** The publisher may run the command in the whole project, or in its Rust part. */
const FOLDERS = ['src-tauri/', ''];
const BUNDLES: ReadonlyMap<string, Platform> = new Map(
  Object.entries({
    nsis: 'windows',
    msi: 'windows',
    app: 'macos',
    dmg: 'macos',
    appimage: 'linux',
    deb: 'linux',
    rpm: 'linux',
  } as const),
);

interface Facts {
  readonly major: 1 | 2;
  readonly productName: string | undefined;
  readonly version: string | undefined;
  readonly identifier: string | undefined;
  /** `all`, or the names of bundles. */
  readonly targets: unknown;
  readonly publicKey: string | undefined;
  /** True when a build signs the files that the updater downloads. */
  readonly makesUpdates: boolean;
}

export async function readTauri(
  directory: string,
  manifest: Manifest | undefined,
  root: string,
): Promise<FoundTool | undefined> {
  const found = await findConfiguration(directory);
  if (found === undefined) return undefined;
  const { folder, file, value } = found;
  const facts = factsOf(value);
  const platforms = platformsOf(facts.targets);
  return {
    kind: 'tauri',
    shownBy: file,
    output: `${await targetFolder(directory, folder)}target/release/bundle`,
    platforms,
    targets: platforms.flatMap((platform) => targetsOf(platform, [])),
    name: stated(facts.productName, `the productName of ${file}`),
    otherNames: statedAll(
      facts.identifier && nameInIdentifier(facts.identifier),
      `the identifier of ${file}`,
    ),
    version: await versionOf(directory, folder, facts.version, { file, root }),
    build: { kind: 'tauri', major: facts.major, run: runOf(manifest) },
    updaters: ['tauri'],
    configuration: configurationFile(file),
    ...(facts.publicKey === undefined ? {} : { publicKey: facts.publicKey }),
    remarks: remarksOn(facts, file),
  };
}

async function findConfiguration(directory: string) {
  for (const folder of FOLDERS) {
    for (const name of FILES) {
      const file = `${folder}${name}`;
      const value = await readConfiguration(directory, file);
      if (value !== undefined) return { folder, file, value };
    }
  }
  return undefined;
}

/** A configuration of Tauri 1 has everything below `package` and `tauri`. */
function factsOf(value: JsonRecord): Facts {
  const first = recordOf(value.tauri);
  if ('tauri' in value || 'package' in value) {
    const about = recordOf(value.package);
    const bundle = recordOf(first.bundle);
    const updater = recordOf(first.updater);
    return {
      major: 1,
      productName: productNameIn(about),
      version: textOf(about.version),
      identifier: textOf(bundle.identifier),
      targets: bundle.targets,
      publicKey: textOf(updater.pubkey),
      makesUpdates: updater.active === true,
    };
  }
  const bundle = recordOf(value.bundle);
  return {
    major: 2,
    productName: productNameIn(value),
    version: textOf(value.version),
    identifier: textOf(value.identifier),
    targets: bundle.targets,
    publicKey: textOf(recordOf(recordOf(value.plugins).updater).pubkey),
    makesUpdates: (bundle.createUpdaterArtifacts ?? bundle['create-updater-artifacts']) === true,
  };
}

/** Tauri takes keys in camel case and in kebab case. Tauri.toml usually has kebab case. */
function productNameIn(value: JsonRecord): string | undefined {
  return textOf(value.productName ?? value['product-name']);
}

function platformsOf(targets: unknown): readonly Platform[] {
  const words = (Array.isArray(targets) ? targets : [targets]).filter(
    (word) => typeof word === 'string',
  );
  const named = new Set(words.flatMap((word) => BUNDLES.get(word.toLowerCase()) ?? []));
  return named.size === 0 ? PLATFORMS : PLATFORMS.filter((platform) => named.has(platform));
}

/**
 * The version in the configuration, else the version of the Rust package. Undefined when the configuration names a
 * package.json.
 */
async function versionOf(
  directory: string,
  folder: string,
  version: string | undefined,
  { file, root }: { readonly file: string; readonly root: string },
): Promise<Stated | undefined> {
  if (version?.endsWith('.json')) return undefined;
  if (version !== undefined) return stated(version, file);
  return readCargoVersion(directory, folder, root);
}

/** The folder with the output. In a Cargo workspace, the output of all packages is in the folder of the workspace. */
async function targetFolder(directory: string, folder: string): Promise<string> {
  const above = folder === '' ? undefined : await readConfiguration(directory, 'Cargo.toml');
  return above?.workspace === undefined ? folder : '';
}

function runOf(manifest: Manifest | undefined): PackageRun | undefined {
  if (manifest?.scripts.has('tauri'))
    return { kind: 'script', name: 'tauri', arguments: ['build'] };
  return manifest?.packages.has('@tauri-apps/cli')
    ? { kind: 'program', name: 'tauri', arguments: ['build'] }
    : undefined;
}

function remarksOn({ major, makesUpdates, publicKey }: Facts, file: string): readonly string[] {
  if (major === 1) {
    return [
      'This is a project of Tauri 1. Slipway publishes its installers, and skips the archives that only its updater reads. Move to Tauri 2 for updates.',
    ];
  }
  return [
    ...(makesUpdates
      ? []
      : [
          `${file} does not have "createUpdaterArtifacts": true in "bundle". Without it, builds have no .sig files, and no updater gets them.`,
        ]),
    ...(publicKey === undefined
      ? [
          `${file} has no "pubkey" in "plugins.updater". "tauri signer generate" makes a key; keep the private one as a secret of your CI.`,
        ]
      : []),
  ];
}
