import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARCHES, PLATFORMS } from '../../src/domain/platform.ts';
import { platformOfAgent } from '../../src/domain/visitor-machine.ts';
import { MACHINE_HEADERS, visitorMachine } from '../../src/server/visitor-machine.ts';

const CHROME_WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const SAFARI_MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15';

const hints = (platform: string, arch?: string, bitness?: string) => ({
  'sec-ch-ua-platform': `"${platform}"`,
  'sec-ch-ua-mobile': '?0',
  ...(arch === undefined ? {} : { 'sec-ch-ua-arch': `"${arch}"` }),
  ...(bitness === undefined ? {} : { 'sec-ch-ua-bitness': `"${bitness}"` }),
});
const shown = (headers: Record<string, string>) => {
  const machine = visitorMachine(headers);
  return machine.kind === 'computer' ? `${machine.platform} ${machine.arch}` : machine.kind;
};

describe('visitorMachine', () => {
  it.each([
    ['Windows', 'x86', '64', 'windows x64'],
    ['Windows', 'x86', '32', 'windows ia32'],
    ['Windows', 'arm', '64', 'windows arm64'],
    ['macOS', 'arm', '64', 'macos arm64'],
    ['macOS', 'x86', '64', 'macos x64'],
    ['Linux', 'x86', '64', 'linux x64'],
    ['Linux', 'arm', '32', 'linux armv7'],
    ['macOS', '', '', 'macos null'],
    ['Chrome OS', 'x86', '64', 'unknown'],
    ['Android', '', '', 'phone'],
    ['constructor', 'x86', '64', 'unknown'],
  ])('believes the hints before the User-Agent: %s %s %s', (platform, arch, bitness, expected) => {
    expect(shown({ ...hints(platform, arch, bitness), 'user-agent': SAFARI_MAC })).toBe(expected);
  });

  it('uses the architecture of the User-Agent when the hint is not sent', () => {
    expect(shown({ ...hints('Windows'), 'user-agent': CHROME_WINDOWS })).toBe('windows x64');
    expect(shown({ ...hints('macOS'), 'user-agent': SAFARI_MAC })).toBe('macos null');
  });

  it.each([
    [CHROME_WINDOWS, 'windows x64'],
    [SAFARI_MAC, 'macos null'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0',
      'macos null',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'linux x64'],
    ['Mozilla/5.0 (X11; Linux aarch64; rv:140.0) Gecko/20100101 Firefox/140.0', 'linux arm64'],
    ['Mozilla/5.0 (X11; Linux armv7l) Gecko/20100101 Firefox/140.0', 'linux armv7'],
    ['Mozilla/5.0 (X11; Linux i686; rv:140.0) Gecko/20100101 Firefox/140.0', 'linux ia32'],
    ['Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0', 'windows null'],
    ['Mozilla/5.0 (Windows NT 10.0; ARM64; rv:140.0) Gecko/20100101', 'windows arm64'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148', 'phone'],
    ['Mozilla/5.0 (Linux; Android 15) Chrome/140.0.0.0 Mobile Safari/537.36', 'phone'],
    ['curl/8.9.1', 'unknown'],
    ['', 'unknown'],
  ])('reads %s', (agent, expected) => {
    expect(shown({ 'user-agent': agent })).toBe(expected);
  });

  it('knows a phone by its hint, whatever else is sent', () => {
    expect(shown({ ...hints('Windows', 'x86'), 'sec-ch-ua-mobile': '?1' })).toBe('phone');
  });

  it('is one of a few values for every request, and depends on no header that is not in Vary', () => {
    const possible = new Set([
      'phone',
      'unknown',
      ...PLATFORMS.flatMap((platform) => [...ARCHES, null].map((arch) => `${platform} ${arch}`)),
    ]);
    const names = MACHINE_HEADERS.toLowerCase().split(', ');
    const text = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.constantFrom('"Windows"', '"arm"', '"x86"', '"64"', 'Windows Win64', 'Linux i686', '?1'),
    );
    fc.assert(
      fc.property(fc.record(Object.fromEntries(names.map((name) => [name, text]))), (headers) => {
        expect(possible).toContain(shown(headers));
        expect(shown({ ...headers, accept: 'x', dnt: '1' })).toBe(shown(headers));
      }),
    );
  });
});

describe('platformOfAgent', () => {
  it('names no platform for a phone', () => {
    expect(platformOfAgent('Mozilla/5.0 (Linux; Android 15)')).toBeUndefined();
    expect(platformOfAgent(undefined)).toBeUndefined();
    expect(platformOfAgent(SAFARI_MAC)).toBe('macos');
  });
});
