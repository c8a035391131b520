import { ARCH, CURRENT_VERSION, type DialectAddress, SQUIRREL_UPDATE } from '../dialect-address.ts';

/** See `msix.ts`. */
export const MSIX_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'getMsixUpdate',
    summary: "The update of a client of Electron's MSIX updater",
    path: '{version}',
    parameters: { version: CURRENT_VERSION },
    query: { arch: ARCH },
    documents: { 'application/json': SQUIRREL_UPDATE },
    hasNoUpdate: true,
    errors: ['unknown_arch'],
  },
];
