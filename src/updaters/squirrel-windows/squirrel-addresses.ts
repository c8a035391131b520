import { CURRENT_VERSION, type DialectAddress, TEXT } from '../dialect-address.ts';

const RELEASES = {
  query: {
    localVersion: CURRENT_VERSION,
    arch: { description: 'The architecture of the system: amd64 or x86.', example: 'amd64' },
  },
  documents: { 'text/plain': TEXT },
  errors: ['invalid_version'],
} as const;

/** See `squirrel-windows.ts`. */
export const SQUIRREL_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'getSquirrelReleases',
    summary: 'The packages for Squirrel.Windows',
    path: 'RELEASES',
    ...RELEASES,
  },
  {
    operation: 'getSquirrelReleasesFor',
    summary: 'The packages for Squirrel.Windows, of an application that needs an architecture',
    path: '{arch}/RELEASES',
    parameters: { arch: { description: 'x64, arm64 or ia32.', example: 'x64' } },
    ...RELEASES,
    query: { localVersion: CURRENT_VERSION },
  },
];
