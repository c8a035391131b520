import { ARCH, type DialectAddress, type JsonSchema } from '../dialect-address.ts';

/** The lines of a header, and behind them bytes that are no text. */
const ZSYNC_FILE: JsonSchema = { type: 'string', format: 'binary' };

const NAMED = {
  parameters: {
    name: {
      description:
        'The name that the build wrote into the AppImage, without its ending; it states the architecture.',
      example: 'App-x86_64',
    },
  },
  query: { arch: ARCH },
  errors: ['unknown_arch', 'no_release'],
} as const;

/** See `zsync.ts`. */
export const ZSYNC_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'getZsyncFile',
    summary: 'The zsync file of the newest AppImage',
    path: '{name}.AppImage.zsync',
    ...NAMED,
    documents: { 'application/x-zsync': ZSYNC_FILE },
    errors: ['unknown_arch', 'no_release', 'artifact_mismatch'],
  },
  {
    operation: 'getNewestAppImage',
    summary: 'The newest AppImage',
    path: '{name}.AppImage',
    ...NAMED,
  },
];
