import type { StaticAddress, StaticChannel } from '../static-address.ts';

/** The words that Electron has for the architectures of Macs. */
const ARCHES = ['x64', 'arm64', 'universal'];

/**
 * An address for each version and architecture, and the documents for `serverType: 'json'`. The newest version has no
 * document, because the client installs every one: it then reports an error.
 */
export function listSquirrelMacAddresses({
  versions,
}: Pick<StaticChannel, 'versions'>): readonly StaticAddress[] {
  const below = ARCHES.map((arch) => ['darwin', arch]);
  return [
    { path: ['releases.json'] },
    ...below.flatMap((machine) => [
      { path: [...machine, 'releases.json'] },
      { path: [...machine, 'RELEASES.json'] },
      ...versions.map((version) => ({ path: [...machine, version] })),
    ]),
  ];
}
