/** The entry `slipway/client` of the package: an updater for Electron and Node that verifies what the service says. */

export type * from './types.ts';
export { createUpdater } from './updater.ts';
export { UpdaterError, type UpdaterErrorCode } from './updater-error.ts';
