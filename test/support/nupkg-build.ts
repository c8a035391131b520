import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { squirrelTextOf } from '../../src/domain/squirrel-version.ts';
import type { PublishRequest, PublishResult } from '../../src/releases/publish/publish-request.ts';
import { pe, zip } from '../builds/materialize.ts';
import { seededBytes } from './electron-build.ts';
import { type PublisherParts, publish } from './release.ts';

/** Small packages of Squirrel and Velopack, with the feeds that these tools write beside them. */

export interface BuiltPackage {
  readonly name: string;
  readonly version: string;
  readonly isDelta: boolean;
  readonly bytes: Buffer;
}

export interface PackageBuild {
  readonly version: string;
  readonly directory: string;
  readonly full: BuiltPackage;
  readonly delta: BuiltPackage | undefined;
}

export interface PackageOptions {
  readonly id?: string;
  readonly arch?: 'x64' | 'ia32' | 'arm64';
  /** Of Velopack; default `win`. */
  readonly channel?: string;
  /** Velopack's runtime id; default: the runtime id of the channel. */
  readonly rid?: string;
  /** The versions that get no delta. */
  readonly withoutDelta?: readonly string[];
}

/** Builds versions one after the other, as in one directory that keeps the older packages: each into one of its own. */
export async function buildPackages(
  tool: 'squirrel' | 'velopack',
  root: string,
  versions: readonly string[],
  options: PackageOptions = {},
): Promise<readonly PackageBuild[]> {
  const known: BuiltPackage[] = [];
  const builds: PackageBuild[] = [];
  for (const version of versions) {
    const hasDelta = known.length > 0 && options.withoutDelta?.includes(version) !== true;
    const full = makePackage(tool, version, false, options);
    const delta = hasDelta ? makePackage(tool, version, true, options) : undefined;
    const own = delta === undefined ? [full] : [delta, full];
    known.push(...own);
    // Forge's folders state the architecture.
    const folders = tool === 'squirrel' ? ['squirrel.windows', options.arch ?? 'x64'] : [];
    const directory = path.join(root, `${tool} ${version}`, ...folders);
    await mkdir(directory, { recursive: true });
    for (const { name, bytes } of own) await writeFile(path.join(directory, name), bytes);
    const [feed, text] =
      tool === 'squirrel' ? ['RELEASES', releasesOf(known)] : velopackFeed(known, options);
    await writeFile(path.join(directory, feed), text);
    builds.push({ version, directory, full, delta });
  }
  return builds;
}

export async function publishPackages(
  parts: PublisherParts,
  { version, directory }: PackageBuild,
  request: Partial<PublishRequest> = {},
): Promise<PublishResult> {
  const { artifacts } = await readBuildOutput({ paths: [directory], version });
  return publish(parts, { version, artifacts, ...request });
}

function makePackage(
  tool: 'squirrel' | 'velopack',
  version: string,
  isDelta: boolean,
  { id = 'App', arch = 'x64', channel = 'win', rid }: PackageOptions,
): BuiltPackage {
  const text = tool === 'squirrel' ? squirrelTextOf(version) : version;
  // Neither tool writes build metadata into a name.
  const [named = ''] = text.split('+', 1);
  const suffix = tool === 'squirrel' || channel === 'win' ? '' : `-${channel}`;
  const name = `${id}-${named}${suffix}-${isDelta ? 'delta' : 'full'}.nupkg`;
  const own =
    tool === 'velopack'
      ? `<mainExe>App.exe</mainExe><rid>${rid ?? channel}</rid><channel>${channel}</channel>`
      : '';
  const nuspec = `<?xml version="1.0"?><package><metadata><id>${id}</id><version>${text}</version>${own}<title>App</title><authors>A</authors><description>An application.</description></metadata></package>`;
  const program = Buffer.concat([pe(arch), seededBytes(isDelta ? 500 : 20_000, `${name} ${arch}`)]);
  const bytes = zip([
    [`${id}.nuspec`, Buffer.from(nuspec)],
    [isDelta ? 'lib/net45/App.exe.diff' : 'lib/net45/App.exe', program],
  ]);
  return { name, version, isDelta, bytes };
}

function releasesOf(packages: readonly BuiltPackage[]): string {
  const lines = packages.map(
    ({ name, bytes }) => `${hashOf('sha1', bytes)} ${name} ${bytes.length}`,
  );
  return `\uFEFF${lines.join('\n')}`;
}

function velopackFeed(
  packages: readonly BuiltPackage[],
  { id = 'App', channel = 'win' }: PackageOptions,
): [string, string] {
  const Assets = packages.map(({ name, version, isDelta, bytes }) => ({
    PackageId: id,
    Version: version,
    Type: isDelta ? 'Delta' : 'Full',
    FileName: name,
    SHA1: hashOf('sha1', bytes),
    SHA256: hashOf('sha256', bytes),
    Size: bytes.length,
  }));
  return [`releases.${channel}.json`, JSON.stringify({ Assets: Assets.reverse() })];
}

/** In upper case, as both tools write it. */
export function hashOf(algorithm: 'sha1' | 'sha256', bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex').toUpperCase();
}

/** The line of a package in `RELEASES`. */
export function lineOf({ name, bytes }: BuiltPackage): string {
  return `${hashOf('sha1', bytes)} ${name} ${bytes.length}`;
}
