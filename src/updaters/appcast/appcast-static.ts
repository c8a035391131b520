import type { StaticAddress } from '../static-address.ts';
import { APPCAST, APPCAST_SIGNATURE } from './appcast.ts';

/** The appcast, and its signature for NetSparkle. */
export function listAppcastAddresses(): readonly StaticAddress[] {
  return [APPCAST, APPCAST_SIGNATURE].map((name) => ({ path: [name] }));
}
