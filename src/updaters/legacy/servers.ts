import { electronjs } from './electronjs.ts';
import { hazel } from './hazel.ts';
import type { LegacyServer } from './legacy-address.ts';
import { nuts } from './nuts.ts';

/** The servers whose addresses the service can answer. */
export const LEGACY_SERVERS: readonly LegacyServer[] = [hazel, nuts, electronjs];
