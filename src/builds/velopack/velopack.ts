import { type Arch, type Format, type Platform, platformOf } from '../../domain/platform.ts';
import { readNupkg } from '../archive/nupkg.ts';
import type { Clues, Evidence } from '../clues.ts';
import { archInName } from '../infer.ts';
import { containsVersion } from '../name-version.ts';
import { beside, type SourceFile } from '../source-file.ts';

/**
 * Velopack writes `Releases/` with `App-1.0.0-full.nupkg`, `App-win-Setup.exe`, `App-win-Portable.zip`,
 * `App-osx-Setup.pkg`, `App.AppImage` and a feed for each channel. Often only the name of the channel states the target
 * (`win-arm64`); otherwise the package states the target.
 *
 * Slipway does not change these names, because the entries of the feed refer to them.
 */

const FEED = /^(?:releases|assets)\.(.+)\.json$/i;
const OWN_NAME = /-(?:win|osx|linux)[\w.-]{0,64}-(?:setup\.(?:exe|pkg)|portable\.zip)$/i;
const KINDS: readonly (readonly [RegExp, Format])[] = [
  [/-full\.nupkg$/i, 'velopack'],
  [/-setup\.exe$/i, 'velopack-setup'],
  [/-setup\.pkg$/i, 'pkg'],
  [/-portable\.zip$/i, 'zip'],
  [/\.msi$/i, 'msi'],
  [/\.appimage$/i, 'appimage'],
];

/**
 * For an installer, this function reads the package beside it, because the installer itself does not state its target.
 */
export async function cluesOfVelopack(
  file: SourceFile,
  version: string,
): Promise<Clues | undefined> {
  const channels = file.siblings.flatMap((name) => FEED.exec(name)?.[1] ?? []);
  const format = KINDS.find(([pattern]) => pattern.test(file.name))?.[1];
  if (format === undefined || (channels.length === 0 && !OWN_NAME.test(file.name))) {
    return undefined;
  }
  const channel = channelOf(file.name, channels);
  const platform =
    platformOf(channel.split(/[-_.]/, 1)[0] ?? '') ?? platformOfFormat(format, file.name);
  const arch = archOfChannel(channel) ?? (await packageEvidence(file, channel, channels, version));
  return {
    format,
    ...(platform === undefined ? {} : { platform }),
    ...(arch === undefined ? {} : { arch }),
    // Outside macOS, vpk builds for x64 by default. So x64 counts for a package that states no architecture.
    ...(platform === undefined || platform === 'macos' ? {} : { usualArch: 'x64' }),
  };
}

/** Finds the longest channel that the name contains. vpk writes every channel except `win` into the names of files. */
function channelOf(name: string, channels: readonly string[]): string {
  const inName = [...channels]
    .sort((a, b) => b.length - a.length)
    .find((channel) => name.toLowerCase().includes(`-${channel.toLowerCase()}-`));
  if (inName !== undefined) return inName;
  const own = /-((?:win|osx|linux)(?:-[a-z0-9]{1,32}){0,8}?)-(?:full\.|setup\.|portable\.)/i.exec(
    name,
  )?.[1];
  if (own !== undefined) return own;
  if (/\.appimage$/i.test(name)) return channels.find((each) => /^linux/i.test(each)) ?? '';
  if (channels.includes('win')) return 'win';
  const [only] = channels;
  return only !== undefined && channels.length === 1 ? only : '';
}

function platformOfFormat(format: Format, name: string): Platform | undefined {
  if (format === 'velopack-setup' || format === 'msi') return 'windows';
  if (format === 'pkg') return 'macos';
  return /\.appimage$/i.test(name) ? 'linux' : undefined;
}

function archOfChannel(channel: string): Evidence | undefined {
  const arch: Arch | undefined = archInName(channel);
  return arch === undefined ? undefined : { arch, source: `the channel ${channel}` };
}

async function packageEvidence(
  file: SourceFile,
  channel: string,
  channels: readonly string[],
  version: string,
): Promise<Evidence | undefined> {
  if (/\.(nupkg|appimage)$/i.test(file.name)) return undefined;
  const packages = file.siblings.filter(
    (name) =>
      /-full\.nupkg$/i.test(name) &&
      containsVersion(name, version) &&
      channelOf(name, channels) === channel,
  );
  const [name] = packages;
  if (name === undefined || packages.length > 1) return undefined;
  const inside = await readNupkg(beside(file, name));
  const arch = archInName(inside?.runtime ?? '') ?? inside?.machine?.arch;
  return arch === undefined ? undefined : { arch, source: `the package ${name} beside it` };
}
