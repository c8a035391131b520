import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { ZSYNC_ARCHES } from './zsync-set-up.ts';

/**
 * The names that developers probably wrote into their AppImages: those of `slipway feeds`, and the names of the files
 * with and without their version. Another name is for `slipway export --also`.
 */
export function listZsyncAddresses({
  builds,
  files,
}: Pick<StaticChannel, 'builds' | 'files'>): readonly StaticAddress[] {
  const own = files.filter(({ format, kind }) => format === 'appimage' && kind === undefined);
  const shown = ZSYNC_ARCHES.filter(([arch]) =>
    builds.some((build) => build.format === 'appimage' && build.arch === arch),
  ).map(([, word]) => `App-${word}.AppImage`);
  const named = own.map(({ filename, version }) => filename.replace(beforeVersion(version), ''));
  const fixed = [...new Set([...shown, ...named])];
  const versioned = own.map(({ filename }) => filename);
  return [
    ...fixed.map((name) => ({ path: [name] })),
    ...[...new Set([...fixed, ...versioned])].map((name) => ({ path: [`${name}.zsync`] })),
  ];
}

/** The version in a name, with the separator before it. */
function beforeVersion(version: string): RegExp {
  return new RegExp(`[-_. ]?v?${version.replace(/[.+]/g, '\\$&')}`);
}
