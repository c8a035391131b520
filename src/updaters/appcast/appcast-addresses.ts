import { ARCH, CURRENT_VERSION, type DialectAddress, TEXT } from '../dialect-address.ts';

const QUERY = { current_version: CURRENT_VERSION, arch: ARCH };

/**
 * The address of the appcast of Sparkle, WinSparkle and NetSparkle.
 *
 * @param more the facts that only clients of this dialect state
 */
export function appcastAddress(
  operation: string,
  updater: string,
  more: Partial<DialectAddress> = {},
): DialectAddress {
  return {
    operation,
    summary: `The appcast of ${updater}`,
    path: 'appcast.xml',
    documents: { 'application/rss+xml': TEXT },
    errors: ['unknown_arch'],
    ...more,
    query: { ...QUERY, ...more.query },
  };
}

const NETSPARKLE = {
  query: {
    platform: { description: 'windows, macos or linux; default: all.', example: 'windows' },
    format: { description: 'The format of the installed package.', example: 'nsis' },
  },
  errors: ['unknown_arch', 'unknown_platform', 'unknown_format'],
} as const;

/** See `netsparkle.ts`. */
export const NETSPARKLE_ADDRESSES: readonly DialectAddress[] = [
  appcastAddress('getNetSparkleAppcast', 'NetSparkle', NETSPARKLE),
  appcastAddress('getNetSparkleSignature', 'NetSparkle', {
    ...NETSPARKLE,
    summary: 'The signature of an appcast that its publisher signed, for NetSparkle',
    path: 'appcast.xml.signature',
    documents: { 'text/plain': TEXT },
  }),
];
