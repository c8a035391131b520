import type { Arch, Platform } from './platform.ts';

/** What a browser tells about the machine of its visitor. `phone`: a phone or tablet, on which no release runs. */
export type VisitorMachine =
  | { readonly kind: 'computer'; readonly platform: Platform; readonly arch: Arch | null }
  | { readonly kind: 'phone' }
  | { readonly kind: 'unknown' };
