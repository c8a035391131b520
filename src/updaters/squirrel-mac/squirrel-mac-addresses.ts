import {
  ARCH,
  CURRENT_VERSION,
  type DialectAddress,
  jsonObject,
  SQUIRREL_UPDATE,
  TEXT,
} from '../dialect-address.ts';

const MACHINE = {
  platform: { description: 'darwin.', example: 'darwin' },
  arch: { description: 'x64, arm64 or universal.', example: 'arm64' },
};

const RELEASES = jsonObject({
  currentRelease: TEXT,
  releases: {
    type: 'array',
    items: jsonObject({
      version: TEXT,
      updateTo: { allOf: [jsonObject({ version: TEXT }), SQUIRREL_UPDATE] },
    }),
  },
});
const LISTED = {
  query: { current_version: CURRENT_VERSION, arch: ARCH },
  documents: { 'application/json': RELEASES },
  errors: ['unknown_arch'],
} as const;

/** See `squirrel-mac.ts`. */
export const SQUIRREL_MAC_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'getSquirrelMacUpdate',
    summary: 'The update of a Squirrel.Mac client',
    path: '{platform}/{arch}/{version}',
    parameters: { ...MACHINE, version: CURRENT_VERSION },
    documents: { 'application/json': SQUIRREL_UPDATE },
    hasNoUpdate: true,
    errors: ['invalid_version', 'unknown_platform', 'unknown_arch'],
  },
  {
    operation: 'getSquirrelMacReleases',
    summary: 'The newest release, for Squirrel.Mac with serverType json',
    path: 'releases.json',
    ...LISTED,
  },
  {
    operation: 'getSquirrelMacReleasesFor',
    summary: 'The newest release for a machine, for Squirrel.Mac with serverType json',
    description: 'Electron Forge writes RELEASES.json: the name has no case.',
    path: '{platform}/{arch}/releases.json',
    parameters: MACHINE,
    ...LISTED,
    errors: ['unknown_platform', 'unknown_arch'],
  },
];
