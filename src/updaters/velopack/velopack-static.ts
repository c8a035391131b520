import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { channelInName, usualChannels } from './velopack-channel.ts';

/**
 * The documents of Velopack's own channels, and of those that vpk wrote into the names of packages. A channel whose
 * name does not state its platform is answered only to clients that state it in the query.
 */
export function listVelopackAddresses({
  builds,
  files,
}: Pick<StaticChannel, 'builds' | 'files'>): readonly StaticAddress[] {
  const usual = builds
    .filter(({ format }) => format === 'velopack')
    .flatMap(({ platform }) => usualChannels(platform));
  const packed = files
    .filter(({ format }) => format === 'velopack')
    .flatMap(({ filename, version }) => channelInName(filename, version) ?? []);
  const names = [...new Set([...usual, ...packed])];
  return [
    ...names.flatMap((name) => [`releases.${name}.json`, `RELEASES-${name}`]),
    ...(names.length === 0 ? [] : ['RELEASES']),
  ].map((name) => ({ path: [name] }));
}
