import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VisitorMachine } from '../../src/domain/visitor-machine.ts';
import { visitorMachine } from '../../src/server/visitor-machine.ts';
import { type Browser, findMachine } from '../../src/web/browser/shared/machine.ts';

/** A visitor, as a browser describes the machine to scripts and in headers. */
interface Visitor {
  readonly agent: string;
  readonly hints?:
    | {
        readonly platform: string;
        readonly isMobile: boolean;
        readonly architecture: string;
        readonly bitness: string;
      }
    | undefined;
  readonly touchPoints?: number;
}

function browserOf({ agent, hints, touchPoints = 0 }: Visitor): Browser {
  if (hints === undefined) return { userAgent: agent, maxTouchPoints: touchPoints };
  const { platform, isMobile, architecture, bitness } = hints;
  const userAgentData = {
    platform,
    mobile: isMobile,
    getHighEntropyValues: async () => ({ architecture, bitness }),
  };
  return { userAgentData, userAgent: agent, maxTouchPoints: touchPoints };
}

function headersOf({ agent, hints }: Visitor): Record<string, string> {
  if (hints === undefined) return { 'user-agent': agent };
  return {
    'user-agent': agent,
    'sec-ch-ua-platform': `"${hints.platform}"`,
    'sec-ch-ua-mobile': hints.isMobile ? '?1' : '?0',
    'sec-ch-ua-arch': `"${hints.architecture}"`,
    'sec-ch-ua-bitness': `"${hints.bitness}"`,
  };
}

/** The reader in the piece that websites copy, which imports nothing. */
const PIECE = readFileSync(
  path.resolve(import.meta.dirname, '../../docs/website/download.html'),
  'utf8',
);
const READER = /( {2}async function findMachine[\s\S]*?)\n {2}\/\/ The link names no version/.exec(
  PIECE,
)?.[1];
const findInPiece = new Function('navigator', `${READER}\nreturn findMachine();`) as (
  browser: Browser,
) => Promise<{ readonly platform?: string; readonly arch?: string }>;

const shown = (machine: VisitorMachine): string =>
  machine.kind === 'computer' ? `${machine.platform} ${machine.arch}` : machine.kind;
const inPiece = async (visitor: Visitor): Promise<string> => {
  const { platform, arch } = await findInPiece(browserOf(visitor));
  return platform === undefined ? 'none' : `${platform} ${arch ?? null}`;
};
/** The piece does not tell a phone from an unknown machine. */
const asInPiece = (machine: VisitorMachine): string =>
  machine.kind === 'computer' ? shown(machine) : 'none';

const SAFARI_MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15';
const CHROME_WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const WORDS = [
  'Mozilla/5.0',
  'Windows NT 10.0',
  'Win64',
  'x64',
  'Macintosh',
  'Intel Mac OS X',
  'Darwin',
  'X11',
  'Linux',
  'x86_64',
  'aarch64',
  'armv7l',
  'i686',
  'ARM64',
  'CrOS',
  'FreeBSD amd64',
  'Android 15',
  'iPhone',
  'iPad',
  'Mobile',
  'Mobile/15E148',
  'MobileReader',
  'curl/8.9.1',
];

const visitors: fc.Arbitrary<Visitor> = fc.record({
  agent: fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }).map((words) => words.join('; ')),
  hints: fc.option(
    fc.record({
      platform: fc.constantFrom('Windows', 'macOS', 'Linux', 'Android', 'iOS', 'Chrome OS', ''),
      isMobile: fc.boolean(),
      architecture: fc.constantFrom('x86', 'arm', 'mips', ''),
      bitness: fc.constantFrom('32', '64', ''),
    }),
    { nil: undefined },
  ),
});

describe('the machine of a visitor', () => {
  it('is the same by headers, by the values of a browser, and in the copied piece', async () => {
    await fc.assert(
      fc.asyncProperty(visitors, async (visitor) => {
        const machine = visitorMachine(headersOf(visitor));
        expect(await findMachine(browserOf(visitor))).toEqual(machine);
        expect(await inPiece(visitor)).toBe(asInPiece(machine));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[string, Visitor, string]>([
    ['a Mac in Safari', { agent: SAFARI_MAC }, 'macos null'],
    ['an iPad that says that it is a Mac', { agent: SAFARI_MAC, touchPoints: 5 }, 'phone'],
    [
      'Firefox on Linux',
      { agent: 'Mozilla/5.0 (X11; Linux aarch64; rv:140.0) Gecko/20100101 Firefox/140.0' },
      'linux arm64',
    ],
    [
      'a phone with another system',
      { agent: 'Mozilla/5.0 (Linux; Tizen 2.3) AppleWebKit/537.3 Mobile Safari/537.3' },
      'phone',
    ],
    [
      'Chromium on Windows on ARM',
      {
        agent: CHROME_WINDOWS,
        hints: { platform: 'Windows', isMobile: false, architecture: 'arm', bitness: '64' },
      },
      'windows arm64',
    ],
  ])('is found by a script: %s', async (_name, visitor, expected) => {
    const machine = await findMachine(browserOf(visitor));
    expect(shown(machine)).toBe(expected);
    expect(await inPiece(visitor)).toBe(asInPiece(machine));
  });

  it('is found when the browser refuses to state more', async () => {
    const userAgentData = {
      platform: 'Windows',
      mobile: false,
      getHighEntropyValues: () => Promise.reject(new Error('NotAllowedError')),
    };
    const browser = { userAgentData, userAgent: CHROME_WINDOWS, maxTouchPoints: 0 };
    expect(shown(await findMachine(browser))).toBe('windows x64');
    expect(await findInPiece(browser)).toEqual({ platform: 'windows', arch: 'x64' });
  });
});
