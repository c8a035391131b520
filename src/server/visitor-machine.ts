import type { IncomingHttpHeaders } from 'node:http';
import type { Arch, Platform } from '../domain/platform.ts';
import type { VisitorMachine } from '../domain/visitor-machine.ts';

/** Which machine a visitor has, by the client hints of the browser, else by its User-Agent. */

/** The hints that browsers send only when they are asked for them. */
export const ASKED_HINTS = 'Sec-CH-UA-Arch, Sec-CH-UA-Bitness';
/** Every header that {@link visitorMachine} reads, as in Vary. */
export const MACHINE_HEADERS = `Sec-CH-UA-Platform, Sec-CH-UA-Mobile, ${ASKED_HINTS}, User-Agent`;

const PHONE: VisitorMachine = { kind: 'phone' };
const UNKNOWN: VisitorMachine = { kind: 'unknown' };

/**
 * The machine of a visitor: one of a few values, whatever the client sends.
 *
 * Chromium's User-Agent states x64 on every machine, so its hint decides. Safari and Firefox state Intel on every Mac,
 * so without a hint the architecture of a Mac is unknown.
 */
export function visitorMachine(headers: IncomingHttpHeaders): VisitorMachine {
  const agent = headers['user-agent'];
  if (headers['sec-ch-ua-mobile'] === '?1') return PHONE;
  const hinted = textOf(headers['sec-ch-ua-platform']);
  if (hinted !== undefined) {
    const platform = PLATFORM_BY_HINT.get(hinted);
    if (platform === 'phone') return PHONE;
    return platform === undefined ? UNKNOWN : computer(platform, archOf(headers, platform, agent));
  }
  if (agent !== undefined && PHONES.test(agent)) return PHONE;
  const platform = platformOfAgent(agent);
  return platform === undefined ? UNKNOWN : computer(platform, archOfAgent(platform, agent ?? ''));
}

/** The platform that a browser names; undefined for phones and other systems. */
export function platformOfAgent(agent: string | undefined): Platform | undefined {
  if (agent === undefined || PHONES.test(agent)) return undefined;
  if (/Windows/i.test(agent)) return 'windows';
  if (/Macintosh|Mac OS X|Darwin/i.test(agent)) return 'macos';
  return /Linux|X11/i.test(agent) ? 'linux' : undefined;
}

const PHONES = /Android|iPhone|iPad/i;

/** The values of the hint: https://wicg.github.io/ua-client-hints/#sec-ch-ua-platform */
const PLATFORM_BY_HINT: ReadonlyMap<string, Platform | 'phone'> = new Map([
  ['Windows', 'windows'],
  ['macOS', 'macos'],
  ['Linux', 'linux'],
  ['Android', 'phone'],
  ['iOS', 'phone'],
]);

function computer(platform: Platform, arch: Arch | null): VisitorMachine {
  return { kind: 'computer', platform, arch };
}

function archOf(
  headers: IncomingHttpHeaders,
  platform: Platform,
  agent: string | undefined,
): Arch | null {
  const is64 = textOf(headers['sec-ch-ua-bitness']) !== '32';
  switch (textOf(headers['sec-ch-ua-arch'])) {
    case 'arm':
      return is64 ? 'arm64' : 'armv7';
    case 'x86':
      return is64 ? 'x64' : 'ia32';
    default:
      return archOfAgent(platform, agent ?? '');
  }
}

function archOfAgent(platform: Platform, agent: string): Arch | null {
  if (platform === 'macos') return null;
  if (/aarch64|arm64/i.test(agent)) return 'arm64';
  if (/x86_64|Win64|WOW64|x64|amd64/i.test(agent)) return 'x64';
  if (/armv[78]l/i.test(agent)) return 'armv7';
  return /\bi[3-6]86\b/i.test(agent) ? 'ia32' : null;
}

/** The text of a hint, which is a quoted string of a structured field; undefined when it is absent or empty. */
function textOf(hint: IncomingHttpHeaders[string]): string | undefined {
  if (typeof hint !== 'string') return undefined;
  const isQuoted = hint.length > 1 && hint.startsWith('"') && hint.endsWith('"');
  const text = isQuoted ? hint.slice(1, -1) : hint;
  return text === '' ? undefined : text;
}
