import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { LINUX_SUFFIXES } from './electron-set-up.ts';

const SUFFIXES = ['', '-mac', ...LINUX_SUFFIXES.map(([, suffix]) => `-linux${suffix}`)];

/** `latest.yml` and the like, and those by which an application asks for another channel of the same feed. */
export function listElectronAddresses({
  channels,
}: Pick<StaticChannel, 'channels'>): readonly StaticAddress[] {
  return ['latest', ...channels].flatMap((name) =>
    SUFFIXES.map((suffix) => ({ path: [`${name}${suffix}.yml`] })),
  );
}
