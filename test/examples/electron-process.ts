import Module, { createRequire } from 'node:module';
import path from 'node:path';
import { type NetworkSession, sendRequest } from '../support/electron-network.ts';

/** Runs the main process of an example in Node, with a stand-in for Electron: there is no window. */

const [main = '', home = '', version = ''] = process.argv.slice(2);
const session: NetworkSession = { requests: [], open: new Set(), authority: undefined };
const app = {
  isPackaged: true,
  name: 'example',
  getName: () => 'example',
  getVersion: () => version,
  getPath: (name: string) => path.join(home, name),
  whenReady: async () => {},
  once: () => {},
  on: () => {},
  quit: () => {},
};
const electron = {
  app,
  net: { fetch, request: sendRequest },
  session: { fromPartition: () => session },
};
Object.assign(process, { resourcesPath: home });
process.env.APPIMAGE = path.join(home, 'App.AppImage');
process.env.XDG_CACHE_HOME = path.join(home, 'cache');

const require = createRequire(main);
const internals = Module as unknown as {
  _resolveFilename(name: string, ...rest: unknown[]): string;
};
const resolve = internals._resolveFilename;
internals._resolveFilename = (name, ...rest) =>
  name === 'electron' ? 'electron-stand-in' : resolve(name, ...rest);
require.cache['electron-stand-in'] = { exports: electron, loaded: true } as NodeJS.Module;
require(main);
