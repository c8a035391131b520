import type { Arch, Platform } from './platform.ts';

/**
 * Recognizes the machine of a visitor, as far as the browser states it. The service and the code in browsers use this
 * file.
 */

/** `phone`: a phone or tablet, on which no release runs. */
export type VisitorMachine =
  | { readonly kind: 'computer'; readonly platform: Platform; readonly arch: Arch | null }
  | { readonly kind: 'phone' }
  | { readonly kind: 'unknown' };

/** https://wicg.github.io/ua-client-hints/. A browser may leave out each hint, or state it as an empty text. */
interface ClientHints {
  readonly platform?: string | undefined;
  readonly isMobile?: boolean | undefined;
  readonly architecture?: string | undefined;
  readonly bitness?: string | undefined;
}

/** The values that a browser states about its machine, in headers or to a script. */
interface BrowserFacts {
  readonly hints: ClientHints;
  readonly agent: string | undefined;
  /**
   * The number of fingers that the screen recognizes at once. Only a script can read the number, so it is absent when
   * the facts come from headers.
   */
  readonly touchPoints?: number;
}

/**
 * The architectures of builds for a machine that does not state its own, best first. Almost every Windows machine runs
 * 32-bit programs.
 */
export const USUAL_ARCHES: Readonly<Record<Platform, readonly Arch[]>> = {
  macos: ['universal', 'arm64', 'x64'],
  windows: ['universal', 'x64', 'ia32'],
  linux: ['universal', 'x64'],
};

/** The platforms by their client hint. */
const HINTED = new Map<string, Platform | 'phone'>([
  ['Windows', 'windows'],
  ['macOS', 'macos'],
  ['Linux', 'linux'],
  ['Android', 'phone'],
  ['iOS', 'phone'],
]);

/** The platforms by User-Agent: the first pattern that matches decides. */
const SYSTEMS: readonly (readonly [RegExp, Platform | 'phone'])[] = [
  [/Android|iPhone|iPad|\bMobile\b/i, 'phone'],
  [/Windows/i, 'windows'],
  [/Macintosh|Mac OS X|Darwin/i, 'macos'],
  [/Linux|X11/i, 'linux'],
];

/** The processors by User-Agent: the first pattern that matches decides. */
const PROCESSORS: readonly (readonly [RegExp, Arch])[] = [
  [/aarch64|arm64/i, 'arm64'],
  [/x86_64|Win64|WOW64|x64|amd64/i, 'x64'],
  [/armv[78]l/i, 'armv7'],
  [/\bi[3-6]86\b/i, 'ia32'],
];

/**
 * The machine of a visitor: one of a few values, whatever the browser states.
 *
 * Chromium's User-Agent states x64 on every machine, so its hint decides. Safari and Firefox state Intel on every Mac,
 * so without a hint the architecture of a Mac is unknown.
 */
export function recognizeMachine({ hints, agent = '', touchPoints }: BrowserFacts): VisitorMachine {
  if (hints.isMobile) return { kind: 'phone' };
  const platform = hints.platform ? HINTED.get(hints.platform) : systemOf(agent, touchPoints);
  if (platform === undefined) return { kind: 'unknown' };
  if (platform === 'phone') return { kind: 'phone' };
  return { kind: 'computer', platform, arch: hintedArch(hints) ?? agentArch(platform, agent) };
}

/** The platform that a User-Agent names; undefined for phones and other systems. */
export function platformOfAgent(agent: string | undefined): Platform | undefined {
  const platform = systemOf(agent ?? '');
  return platform === 'phone' ? undefined : platform;
}

function systemOf(agent: string, touchPoints = 0): Platform | 'phone' | undefined {
  const platform = firstMatch(SYSTEMS, agent);
  // An iPad says that it is a Mac. No Mac has a touch screen.
  return platform === 'macos' && touchPoints > 1 ? 'phone' : platform;
}

function hintedArch({ architecture, bitness }: ClientHints): Arch | undefined {
  const is32 = bitness === '32';
  if (architecture === 'arm') return is32 ? 'armv7' : 'arm64';
  if (architecture === 'x86') return is32 ? 'ia32' : 'x64';
  return undefined;
}

function agentArch(platform: Platform, agent: string): Arch | null {
  return platform === 'macos' ? null : (firstMatch(PROCESSORS, agent) ?? null);
}

function firstMatch<T>(table: readonly (readonly [RegExp, T])[], text: string): T | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1];
}
