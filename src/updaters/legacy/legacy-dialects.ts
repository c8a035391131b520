import { AppError } from '../../core/errors.ts';
import type { Format, Platform } from '../../domain/platform.ts';
import { electron } from '../electron/electron.ts';
import { ELECTRON_ABSOLUTE } from '../electron/electron-feed.ts';
import type { PollProtocol, Protocol } from '../protocol.ts';
import { askSquirrelUpdate, squirrelMac } from '../squirrel-mac/squirrel-mac.ts';
import { parseLegacyMachine } from './legacy-address.ts';

/** The dialects as other update servers speak them: with absolute addresses, and JSON for every platform. */

/** The formats for clients that ask for JSON: Squirrel.Mac installs a zip; on other systems, the application decides. */
const JSON_FORMATS: Readonly<Record<Platform, readonly Format[]>> = {
  macos: ['zip'],
  windows: ['nsis', 'squirrel-setup', 'velopack-setup', 'msi', 'nsis-web'],
  linux: ['appimage', 'deb', 'rpm', 'tar.gz'],
};

/** `{machine}/{version}`: Squirrel.Mac's JSON, or 204. */
export const legacyJson: PollProtocol = {
  ...squirrelMac,
  formatsFor: (platform) => JSON_FORMATS[platform],
  parseRequest: (request) => {
    const [word = '', version, ...rest] = request.path;
    const machine = parseLegacyMachine(word);
    if (machine === undefined || version === undefined || rest.length > 0) return undefined;
    const { platform, arch, formats } = machine;
    return askSquirrelUpdate(request, {
      ...{ platform, arch, version, formats: formats ?? JSON_FORMATS[platform] },
    });
  },
};

/** `latest.yml` and the like. Addresses relative to the other server's documents would name nothing. */
export const legacyElectron: Protocol = {
  ...electron,
  parseRequest: (request) => {
    const question = electron.parseRequest(request);
    return question && { ...question, document: ELECTRON_ABSOLUTE };
  },
};

/** The error for a word that names no machine. */
export function unknownMachine(word: string): AppError {
  const detail = `${JSON.stringify(word.slice(0, 64))} is not a known platform; use darwin, win32 or linux, with or without an architecture.`;
  return new AppError('unknown_platform', detail, { issues: [{ pointer: '/platform', detail }] });
}
