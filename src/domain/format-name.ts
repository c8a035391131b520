import type { Format } from './platform.ts';

/** Names of formats, for visitors: on the pages of the service, and in the elements for websites. */
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
