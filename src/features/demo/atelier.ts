import { after, type DemoApplication, hoursAgo, on } from './demo-application.ts';

/** Atelier, an image editor: a Tauri application with a chain of three channels and a rollback. */

const CI = 'ci@atelier';
const LENA = 'lena@atelier';
const TOMAS = 'tomas@atelier';

export const atelier: DemoApplication = {
  name: 'studio',
  title: 'Atelier',
  signatures: 'tauri',
  files: [
    { name: 'Atelier_{version}_x64-setup.exe', platform: 'windows', arch: 'x64', format: 'nsis' },
    {
      ...{ name: 'Atelier_{version}_arm64-setup.exe', platform: 'windows', arch: 'arm64' },
      format: 'nsis',
    },
    {
      ...{ name: 'Atelier_{version}_universal.dmg', platform: 'macos', arch: 'universal' },
      ...{ format: 'dmg', minimumOsVersion: '11.0' },
    },
    {
      ...{ name: 'Atelier_{version}_universal.app.tar.gz', platform: 'macos', arch: 'universal' },
      ...{ format: 'tar.gz', minimumOsVersion: '11.0' },
    },
    {
      ...{ name: 'Atelier_{version}_amd64.AppImage', platform: 'linux', arch: 'x64' },
      format: 'appimage',
    },
    { name: 'atelier_{version}_amd64.deb', platform: 'linux', arch: 'x64', format: 'deb' },
  ],
  population: {
    stable: { windows: 610, macos: 540, linux: 310 },
    beta: { windows: 60, macos: 75, linux: 55 },
    alpha: { windows: 18, macos: 26, linux: 31 },
  },
  checksPerDay: 1.4,
  steps: [
    {
      ...{ at: on(118, '17:00'), by: CI, do: 'publish', version: '1.6.0', channel: 'stable' },
      notes: { en: '- Layers can be grouped\n- Opens PSD files with adjustment layers\n' },
    },
    {
      ...{ at: after(0.3), by: LENA, do: 'create channel', channel: 'beta' },
      settings: { inherits: 'stable' },
    },
    {
      ...{ at: after(0.2), by: LENA, do: 'create channel', channel: 'alpha' },
      settings: { inherits: 'beta', keep: 3, allowsDowngrade: true },
      reason: 'Nightly work; testers may go back.',
    },
    {
      ...{ at: on(110, '10:00'), by: LENA, do: 'set key' },
      reason: 'From 1.7 on, the updater verifies every download.',
    },
    {
      ...{ at: on(97, '17:10'), by: CI, do: 'publish', version: '1.7.0', channel: 'stable' },
      notes: {
        en: '## Brushes\n\n- Pressure and tilt on every tablet\n- Import of ABR brushes\n- Stabiliser for long strokes\n',
        es: '## Pinceles\n\n- Presión e inclinación en cualquier tableta\n- Importación de pinceles ABR\n- Estabilizador para trazos largos\n',
      },
    },
    {
      ...{ at: on(76, '17:05'), by: CI, do: 'publish', version: '1.8.0-alpha.1', channel: 'alpha' },
      notes: { en: '- First GPU canvas. Keep copies of your files.\n' },
    },
    {
      ...{ at: on(68, '17:05'), by: CI, do: 'publish', version: '1.8.0-alpha.2', channel: 'alpha' },
      notes: { en: '- GPU canvas: blend modes, faster zoom\n' },
    },
    {
      ...{ at: on(53, '17:15'), by: CI, do: 'publish', version: '1.8.0-beta.1', channel: 'beta' },
      notes: { en: '- GPU canvas for everyone on beta\n- Falls back to the CPU on old drivers\n' },
    },
    {
      ...{ at: on(40, '17:10'), by: CI, do: 'publish', version: '1.8.0', channel: 'stable' },
      notes: {
        en: '## GPU canvas\n\nPanning, zooming and blending run on the graphics card.\n\n- Up to 8 times faster with large images\n- New: non-destructive crop\n',
        es: '## Lienzo en la GPU\n\nDesplazar, ampliar y fusionar se calcula en la tarjeta gráfica.\n\n- Hasta 8 veces más rápido con imágenes grandes\n- Nuevo: recorte no destructivo\n',
      },
      rollout: { text: '20%@0h,100%@2d', freezeWindows: [] },
    },
    {
      ...{ at: after(87.5), by: TOMAS, do: 'rollback', to: '1.7.0', channel: 'stable' },
      reason: 'The GPU canvas writes wrong colours into 16-bit files (ATL-518).',
    },
    {
      ...{ at: after(72.2), by: CI, do: 'publish', version: '1.8.1', channel: 'stable' },
      notes: {
        en: '- 16-bit files keep their colours. Files saved with 1.8.0 are repaired when they are opened.\n',
        es: '- Los archivos de 16 bits conservan sus colores. Los guardados con 1.8.0 se reparan al abrirlos.\n',
      },
      mandatoryFor: '1.8.0',
    },
    {
      ...{ at: on(19, '17:05'), by: CI, do: 'publish', version: '1.9.0-alpha.1', channel: 'alpha' },
      notes: { en: '- Text on paths\n' },
    },
    {
      ...{ at: on(10, '17:05'), by: CI, do: 'publish', version: '1.9.0-alpha.2', channel: 'alpha' },
      notes: { en: '- Text on paths: kerning, reversed paths\n' },
    },
    {
      ...{ at: hoursAgo(52), by: CI, do: 'publish', version: '1.9.0-beta.1', channel: 'beta' },
      notes: { en: '- Text on paths\n- Colour management for printing (CMYK preview)\n' },
      rollout: { text: '50%', freezeWindows: [] },
    },
    {
      ...{ at: hoursAgo(5), by: CI, do: 'publish', version: '1.10.0-alpha.1', channel: 'alpha' },
      notes: { en: '- Vector layers, first version\n' },
    },
  ],
};
