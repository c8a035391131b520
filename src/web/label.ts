import type { Arch, Format, Platform } from '../domain/platform.ts';

/** Names of platforms, processors and formats, for visitors: on the pages, and in the elements for websites. */

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

/** The download element uses these names as well, but has its own names for other processors. */
export const MAC_ARCH_NAMES: Readonly<Partial<Record<Arch, string>>> = {
  arm64: 'Apple silicon',
  x64: 'Intel',
  universal: 'Apple silicon and Intel',
};

/** A page shows this sentence beside two files for a Mac. */
export const WHICH_MAC =
  'To see which processor your Mac has, choose About This Mac in the Apple menu.';

export function archName(platform: Platform, arch: Arch): string {
  return (platform === 'macos' ? MAC_ARCH_NAMES[arch] : undefined) ?? ARCH_NAMES[arch];
}

export const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  nsis: 'Installer',
  'nsis-web': 'Web installer',
  msi: 'MSI package',
  msix: 'MSIX package',
  squirrel: 'Update package',
  'squirrel-setup': 'Installer',
  velopack: 'Update package',
  'velopack-setup': 'Installer',
  dmg: 'Disk image',
  pkg: 'Installer package',
  zip: 'ZIP archive',
  appimage: 'AppImage',
  deb: 'Debian package',
  rpm: 'RPM package',
  pacman: 'Pacman package',
  snap: 'Snap',
  flatpak: 'Flatpak',
  'tar.gz': 'Archive (.tar.gz)',
  'tar.xz': 'Archive (.tar.xz)',
  'tar.zst': 'Archive (.tar.zst)',
  '7z': '7-Zip archive',
  binary: 'Program',
};
