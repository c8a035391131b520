import type { Arch } from '../../domain/platform.ts';
import type { ProtocolRequest } from '../protocol.ts';
import type { LegacyRequest } from './legacy-address.ts';

interface AskedReleases extends Pick<ProtocolRequest, 'application' | 'channel' | 'query'> {
  /** Null when the address does not state it: then the client may state it in the query. */
  readonly arch: Arch | null;
  /** Of the client, as the address states it. */
  readonly version: string;
  /** `RELEASES`, or the name of a package below the same address. */
  readonly document: string;
}

/** Squirrel.Windows below the address of another server. */
export function askLegacyReleases(_asked: AskedReleases): LegacyRequest | undefined {
  return undefined;
}
