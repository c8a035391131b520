import type { Arch, Platform } from '../domain/platform.ts';

/** Names of platforms and processors, for visitors. */

export const PLATFORM_NAMES: Readonly<Record<Platform, string>> = {
  windows: 'Windows',
  macos: 'macOS',
  linux: 'Linux',
};

const ARCH_NAMES: Readonly<Record<Arch, string>> = {
  x64: '64-bit (x64)',
  arm64: 'ARM64',
  ia32: '32-bit (x86)',
  armv7: 'ARMv7',
  universal: 'every processor',
};

/** Also for the download element, which has names of its own for other processors. */
export const MAC_ARCH_NAMES: Readonly<Partial<Record<Arch, string>>> = {
  arm64: 'Apple silicon',
  x64: 'Intel',
  universal: 'Apple silicon and Intel',
};

/** Stands beside two files for a Mac. */
export const WHICH_MAC =
  'To see which processor your Mac has, choose About This Mac in the Apple menu.';

export function archName(platform: Platform, arch: Arch): string {
  return (platform === 'macos' ? MAC_ARCH_NAMES[arch] : undefined) ?? ARCH_NAMES[arch];
}
