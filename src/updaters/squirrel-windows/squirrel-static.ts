import type { StaticAddress } from '../static-address.ts';

/** `RELEASES` for each way in which an application is told the address of its feed: see `describeSquirrelSetUp`. */
export function listSquirrelAddresses(): readonly StaticAddress[] {
  return [['RELEASES'], ...['x64', 'ia32', 'arm64'].map((arch) => [arch, 'RELEASES'])].map(
    (path) => ({ path }),
  );
}
