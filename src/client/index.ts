/** The entry `slipway/client` of the package: an updater for Electron and Node that verifies what the service says. */

export { createUpdater } from './create-updater.ts';
export { createElectronProvider } from './electron-provider.ts';
export type * from './types.ts';
export { UpdaterError, type UpdaterErrorCode } from './updater-error.ts';
