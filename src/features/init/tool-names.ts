import type { ToolKind } from '../../builds/project/project.ts';

/** The names of build tools, for readers. */
export const TOOL_NAMES: Readonly<Record<ToolKind, string>> = {
  tauri: 'Tauri',
  velopack: 'Velopack',
  'electron-builder': 'electron-builder',
  'electron-forge': 'Electron Forge',
  sparkle: 'Sparkle',
  dotnet: '.NET',
};
