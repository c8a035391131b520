import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OfferJson } from '../../../src/catalog/documents/revision-document.ts';
import { inRange, parseRange, parseVersion, representatives } from '../../../src/domain/version.ts';
import { refuseStranding } from '../../../src/releases/offer/refuse-stranding.ts';
import { rounds } from '../../support/rounds.ts';
import { offerJson } from '../offer-json.ts';

type Build = readonly ['windows' | 'linux', 'nsis' | 'deb'];
const LINUX: Build = ['linux', 'deb'];
const WINDOWS: Build = ['windows', 'nsis'];

function offer(
  version: string,
  over: Partial<OfferJson> = {},
  builds: readonly Build[] = [LINUX],
): OfferJson {
  return offerJson(
    version,
    builds.map(([os, format]) => ({ os, arch: 'x64', format })),
    over,
  );
}

/** What is said of a release on a channel with these other offers; undefined when it is accepted. */
function refusal(release: OfferJson, others: readonly OfferJson[] = []): string | undefined {
  const stable = { inherits: null, offers: [...others, release], retired: [] };
  try {
    refuseStranding({ stable }, 'stable', release);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ code: 'clients_stranded' });
    return (error as Error).message;
  }
}

describe('a release that is mandatory for versions that may not take it', () => {
  const gated = (requires: string, mandatory: string, builds?: readonly Build[]) =>
    offer('2.0.0', { requires, mandatory_for: mandatory }, builds);

  it('is refused when no release leads them there, with an example and what to do', () => {
    expect(refusal(gated('>=1.0.0', '<1.5.0'))).toBe(
      'Clients on 0.0.0 must update to 2.0.0 (--mandatory-for "<1.5.0"), but 2.0.0 requires >=1.0.0, and stable has no release in between that leads there. Publish one in between first, or correct --requires and --mandatory-for. To leave these clients where they are, add --allow-stranded.',
    );
    expect(refusal(gated('>=1.6.0', '>=1.4.0 <1.5.0'))).toMatch(/^Clients on 1\.4\.0 must/);
  });

  it('is refused with the newest published version among them as the example', () => {
    const others = [offer('0.8.0'), offer('0.9.0'), offer('1.9.0', { status: 'paused' })];
    expect(refusal(gated('>=1.0.0', '<1.5.0'), others)).toMatch(/^Clients on 0\.9\.0 must/);
  });

  it('is accepted when all of them may update to it, or a chain of releases leads there', () => {
    expect(refusal(gated('>=1.0.0', '>=1.0.0 <1.5.0'))).toBeUndefined();
    expect(refusal(gated('>=1.0.0', '<1.5.0'), [offer('1.2.0')])).toBeUndefined();
    const chain = [offer('0.5.0'), offer('1.2.0', { requires: '>=0.5.0' })];
    expect(refusal(gated('>=1.0.0', '<1.5.0'), chain)).toBeUndefined();
    expect(refusal(offer('2.0.0', { requires: '>=1.0.0' }))).toBeUndefined();
    expect(refusal(offer('2.0.0', { mandatory_for: '<1.0.0' }))).toBeUndefined();
  });

  it('is refused when a link of the chain is missing, paused, or lacks the build', () => {
    const ranges = ['>=1.0.0', '<1.5.0'] as const;
    expect(refusal(gated(...ranges), [offer('1.2.0', { requires: '>=0.5.0' })])).toMatch(/0\.0\.0/);
    expect(refusal(gated(...ranges), [offer('1.2.0', { status: 'paused' })])).toBeDefined();
    expect(refusal(gated(...ranges), [offer('1.2.0', { status: 'yanked' })])).toBeDefined();
    const both = gated(...ranges, [LINUX, WINDOWS]);
    expect(refusal(both, [offer('1.2.0', {}, [LINUX])])).toBeDefined();
    expect(refusal(both, [offer('1.2.0', {}, [LINUX, WINDOWS])])).toBeUndefined();
  });

  it('finds a gap of a single pre-release', () => {
    expect(refusal(gated('>=1.0.0', '>=1.0.0-rc.2 <1.5.0'))).toMatch(
      /^Clients on 1\.0\.0-rc\.2 must/,
    );
  });

  it('counts a paused release as offered', () => {
    const release = { ...gated('>=1.0.0', '>=1.0.0 <1.5.0'), status: 'paused' as const };
    expect(refusal(release)).toBeUndefined();
  });
});

describe('a release that requires certain versions', () => {
  const gated = (requires: string) => offer('2.0.0', { requires });

  it('is refused when no published release is in the range, with the newest one before it', () => {
    expect(refusal(gated('>=1.5.0'), [offer('1.4.0'), offer('1.3.0'), offer('2.1.0')])).toBe(
      'No client can update to 2.0.0: it requires >=1.5.0, and no published release is in that range. The newest one before it is 1.4.0. Publish a release in that range first, or correct --requires. To publish 2.0.0 all the same, add --allow-stranded.',
    );
  });

  it('is accepted when clients may run a version in the range, of any status and channel', () => {
    for (const status of ['active', 'paused', 'yanked'] as const) {
      expect(refusal(gated('>=1.5.0'), [offer('1.4.0'), offer('1.5.0', { status })])).toBe(
        undefined,
      );
    }
    const release = gated('>=1.5.0');
    const stable = { inherits: null, offers: [offer('1.4.0'), release], retired: [] };
    const old = { inherits: null, offers: [], retired: ['1.5.0-beta.1', '1.6.0'] };
    expect(() => refuseStranding({ stable, old }, 'stable', release)).not.toThrow();
    // Clients of a first release may come from another service.
    expect(refusal(gated('>=1.5.0'))).toBeUndefined();
  });
});

describe('the sample of versions that represents all others', () => {
  const number = fc.integer({ min: 0, max: 3 });
  const version = fc
    .tuple(
      number,
      number,
      number,
      fc.constantFrom('', '-0', '-alpha', '-alpha.1', '-beta', '-rc.1'),
    )
    .map(([major, minor, patch, pre]) => `${major}.${minor}.${patch}${pre}`);
  const range = fc
    .array(
      fc.tuple(fc.constantFrom('<', '<=', '>', '>=', '^', '~', ''), version).map((p) => p.join('')),
      { minLength: 1, maxLength: 2 },
    )
    .chain((parts) => fc.constantFrom(' ', ' || ').map((separator) => parts.join(separator)));

  it('are in the same ranges as any other version', () => {
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 3 }), version, (texts, text) => {
        const ranges = texts.map((one) => parseRange(one, '/range'));
        const pattern = (one: ReturnType<typeof parseVersion>) =>
          ranges.map((each) => inRange(one, each)).join();
        const patterns = new Set(representatives(ranges, []).map(pattern));
        expect(patterns.has(pattern(parseVersion(text)))).toBe(true);
      }),
      { numRuns: rounds(100, 500) },
    );
  });
});
