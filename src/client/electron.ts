/** The entry `slipway/client/electron` of the package: electron-updater with verified updates. */

export { createElectronProvider, type ElectronProviderOptions } from './electron-provider.ts';
export { UpdaterError, type UpdaterErrorCode } from './updater-error.ts';
