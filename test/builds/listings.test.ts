import { expect, test } from 'vitest';
import { readBuildOutput } from '../../src/builds/read-build-output.ts';
import { materialize, summarise } from './materialize.ts';

/**
 * Verbatim listings of real builds: the whole result, what each becomes and what is left out of it,
 * is beside the listing in `*.expected.txt`.
 */
const LISTINGS: Readonly<Record<string, { version: string; machines?: Record<string, string> }>> = {
  'electron-builder-mac-two-arches': { version: '1.0.0' },
  'electron-builder-win-and-mac': { version: '1.0.0' },
  'electron-builder-win': { version: '1.0.0' },
  'electron-builder-windows-multi': { version: '1.1.0' },
  'electron-builder-nsis-web': { version: '1.1.0' },
  'electron-builder-linux': { version: '1.0.0' },
  'electron-builder-squirrel': { version: '1.1.0' },
  'electron-forge-windows': { version: '1.0.0' },
  'electron-forge-zip': { version: '0.1.0' },
  'tauri-linux': { version: '1.0.0' },
  'tauri-windows': { version: '1.3.1' },
  'tauri-v1-windows': { version: '0.1.0' },
  'tauri-mac-target': { version: '0.3.13' },
  'tauri-mac-plain': { version: '0.3.0' },
  'tauri-universal': {
    version: '1.0.10',
    machines: { 'macos-latest/macos/Tari Universe-test.app.tar.gz': 'universal' },
  },
  'velopack-osx': {
    version: '1.0.0',
    machines: { 'Lookout-1.0.0-osx-full.nupkg': 'osx-arm64' },
  },
  'velopack-win': {
    version: '1.3.0',
    machines: { 'PdfTileGenerator-1.3.0-full.nupkg': 'win-x64' },
  },
  'velopack-channels': {
    version: '1.0.0',
    machines: {
      'YourAppId-1.0.0-win-x86-full.nupkg': 'win-x86',
      'YourAppId-1.0.0-win-x64-full.nupkg': 'win-x64',
      'YourAppId-1.0.0-linux-full.nupkg': 'linux-x64',
      'YourAppId-1.0.0-osx-arm64-full.nupkg': 'osx-arm64',
    },
  },
};

test.each(Object.entries(LISTINGS))('%s', async (listing, { version, machines = {} }) => {
  const root = await materialize(listing, { version, machines });
  const output = await readBuildOutput({ paths: [root], version });
  const skipped = output.skipped.map(({ path, reason }) => `${path}: ${reason}`);
  const lines = ['published', ...summarise(output), '', 'skipped', ...skipped.sort(), ''];
  const text = lines.join('\n').replaceAll(root, '').replaceAll('\\', '/');
  await expect(text).toMatchFileSnapshot(`listings/${listing}.expected.txt`);
});

test('two machines with a flat directory each publish App.app.tar.gz under two names', async () => {
  const intel = await materialize('tauri-mac-plain', {
    version: '0.3.0',
    machines: { 'macos/Karui.app.tar.gz': 'x64' },
  });
  // The disk image belongs to the other machine's build.
  const output = await readBuildOutput({ paths: [`${intel}/macos`], version: '0.3.0' });
  expect(output.artifacts.map(({ arch, filename }) => [arch, filename])).toEqual([
    ['x64', 'Karui_x64.app.tar.gz'],
  ]);
});
