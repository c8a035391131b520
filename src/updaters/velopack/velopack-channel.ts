import { type Arch, archOf, type Platform, platformOf } from '../../domain/platform.ts';

/** Velopack's own channels: `win`, `osx`, `linux`, `win-arm64`, `win-x64-stable`, or any other name. */

export interface ChannelWords {
  /** In lower case. */
  readonly name: string;
  readonly platform: Platform | undefined;
  readonly arch: Arch | undefined;
}

const SYSTEMS: Readonly<Record<Platform, string>> = {
  windows: 'win',
  macos: 'osx',
  linux: 'linux',
};
const ARCHES = ['x64', 'arm64', 'x86'];

/** Velopack's usual channels of a platform: `win`, `win-x64`, … */
export function usualChannels(platform: Platform): readonly string[] {
  const system = SYSTEMS[platform];
  return [system, ...ARCHES.map((arch) => `${system}-${arch}`)];
}

/** What the words of a channel tell about its machines: the first word that names a platform, and an architecture. */
export function parseVelopackChannel(text: string): ChannelWords {
  const name = text.toLowerCase();
  // One word, although it has a separator.
  const words = name.replace(/x86[-_]64/g, 'x64').split(/[-_.]/);
  return {
    name,
    platform: words.flatMap((word) => platformOf(word) ?? [])[0],
    arch: words.flatMap((word) => archOf(word) ?? (word === 'win64' ? 'x64' : []))[0],
  };
}

/** What `rid` states, such as `win-x64`, `win10-arm64` or `osx.13-x64`. */
export function parseRuntimeId(rid: string): Omit<ChannelWords, 'name'> {
  const [system = '', ...rest] = rid.toLowerCase().split('-');
  return {
    platform: platformOf(system) ?? platformOf(system.replace(/[\d.]+$/, '')),
    arch: rest.flatMap((word) => archOf(word) ?? [])[0],
  };
}

/** `App-1.0.0-win-arm64-full.nupkg`, behind the version. */
const BEHIND = /^(?:-(.+))?-(?:full|delta)\.nupkg$/i;

/**
 * The channel that vpk wrote into the name of a package; `win` for none. Undefined when the name does not contain the
 * version.
 */
export function channelInName(filename: string, version: string): string | undefined {
  const [bare = ''] = version.split('+', 1);
  const at = filename.lastIndexOf(`-${bare}-`);
  const behind = at < 0 ? null : BEHIND.exec(filename.slice(at + 1 + bare.length));
  return behind === null ? undefined : (behind[1] ?? 'win').toLowerCase();
}

/** The package's id in its name: `App` of `App-1.0.0-full.nupkg`. */
export function packageIdIn(filename: string, version: string): string {
  const [bare = ''] = version.split('+', 1);
  const at = filename.lastIndexOf(`-${bare}-`);
  return at > 0 ? filename.slice(0, at) : filename.replace(/-(?:full|delta)\.nupkg$|\.nupkg$/i, '');
}
