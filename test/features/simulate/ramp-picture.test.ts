import { describe, expect, it } from 'vitest';
import { charactersOf, drawRamp } from '../../../src/features/simulate/ramp-picture.ts';
import { renderRampSvg } from '../../../src/features/simulate/ramp-svg.ts';
import { rampOf, timeLabel } from '../../../src/features/simulate/version-ramp.ts';

const HOUR = 3_600_000;
const time = (hours: number, growsEvenly = false) => ({
  at: hours * HOUR,
  isStep: hours > 0,
  growsEvenly,
});
const total = (version: string, ...counts: readonly number[]) => ({
  version,
  installed: 0,
  counts,
});

const STEPS = rampOf({ installations: 100, times: [time(0), time(10)] }, [
  total('1.1.0', 25, 100),
  total('1.0.0', 75, 0),
  total('0.9.0', 0, 0),
]);

describe('the picture of a ramp', () => {
  it('shows the newest version at the bottom, for as long as each share lasts', () => {
    const lines = drawRamp(STEPS, { width: 40, hasBlocks: true });
    // 33 columns for eleven hours.
    expect(lines[0]).toBe(`100% ┤${'▓'.repeat(30)}███`);
    expect(lines[9]).toBe(` 25% ┤${'█'.repeat(33)}`);
    expect(lines[8]).toBe(`     ┤${'▓'.repeat(30)}███`);
    expect(lines.slice(12)).toEqual([
      `  0% └${'─'.repeat(33)}`,
      `      now${' '.repeat(26)}+10h`,
      '      █ 1.1.0   ▓ 1.0.0',
    ]);
  });

  it('has only ASCII where the terminal may show nothing else', () => {
    const lines = drawRamp(STEPS, { width: 60, hasBlocks: false });
    expect(lines.join('')).toMatch(/^[ -~]+$/);
    expect(lines[0]).toBe(`100% |${'*'.repeat(48)}#####`);
    expect(lines.at(-1)).toBe('      # 1.1.0   * 1.0.0');
  });

  it('grows evenly where a plan does', () => {
    const ramp = rampOf({ installations: 100, times: [time(0, true), time(10)] }, [
      total('1.1.0', 0, 100),
      total('1.0.0', 100, 0),
    ]);
    const heights = drawRamp(ramp, { width: 61, hasBlocks: false })
      .slice(0, 12)
      .map((line) => line.replaceAll(/[^#]/g, '').length);
    expect(heights).toEqual(heights.toSorted((a, b) => a - b));
    expect(new Set(heights).size).toBe(12);
  });

  it('never is wider than the terminal, from 31 columns on', () => {
    for (const width of [31, 40, 80, 119, 500]) {
      const longest = Math.max(...drawRamp(STEPS, { width, hasBlocks: true }).map((l) => l.length));
      expect(longest).toBeLessThan(Math.min(width + 1, 122));
    }
  });

  it('joins the oldest versions', () => {
    const totals = [9, 8, 7, 6, 5, 4, 3].map((minor) => total(`1.${minor}.0`, 10, 10));
    const { bands } = rampOf({ installations: 70, times: [time(0), time(1)] }, totals);
    expect(bands.map(({ label }) => label)).toEqual([
      '1.9.0',
      '1.8.0',
      '1.7.0',
      '1.6.0',
      '1.5.0 to 1.3.0',
    ]);
    expect(bands.at(-1)?.shares[0]).toBeCloseTo(3 / 7);
  });

  it('uses block characters where the locale has them', () => {
    expect(charactersOf({ LANG: 'de_DE.UTF-8' }, 100)).toEqual({ width: 100, hasBlocks: true });
    expect(charactersOf({}, undefined)).toEqual({ width: 80, hasBlocks: true });
    expect(charactersOf({}, 0).width).toBe(80);
    expect(charactersOf({ LC_ALL: 'C', LANG: 'C.utf8' }, 100).hasBlocks).toBe(false);
    expect(charactersOf({ TERM: 'dumb', LANG: 'C.utf8' }, 100).hasBlocks).toBe(false);
  });
});

describe('the label of a time', () => {
  it.each([
    [0, 'now'],
    [20_000, 'now'],
    [30 * 60_000, '+30m'],
    [6 * HOUR - 900, '+6h'],
    [6.5 * HOUR, '+6h 30m'],
    [48 * HOUR, '+2d'],
    [49.5 * HOUR, '+2d 1h'],
  ])('%d', (ms, label) => {
    expect(timeLabel(ms)).toBe(label);
  });

  it('does not call a start that the operator chose "now"', () => {
    expect(timeLabel(0, 'at start')).toBe('at start');
    expect(timeLabel(6 * HOUR, 'at start')).toBe('+6h');
    const ramp = { ...STEPS, startLabel: 'at start' as const };
    const drawn = drawRamp(ramp, { width: 60, hasBlocks: true }).join('\n');
    const svg = renderRampSvg(ramp, 'Versions', 'in the state of yesterday');
    expect(drawn).toContain('at start');
    expect(svg).toContain('>time from the start<');
    expect(svg).toContain('1.1.0: 25% of the installations at start, 100% at +10h.');
    expect(`${drawn}${svg}`).not.toMatch(/\bnow\b/);
  });
});

describe('the SVG', () => {
  const svg = renderRampSvg(STEPS, 'Versions of a<b', 'after yank "1.0.0" & more');

  it('stands by itself, and says in words what it shows', () => {
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox/);
    expect(svg).not.toMatch(/href|url\(|<image|<script|@import/);
    expect(svg).toContain('role="img" aria-labelledby="title description"');
    expect(svg).toContain(
      '<title id="title">Versions of a&lt;b, after yank "1.0.0" &amp; more</title>',
    );
    expect(svg).toContain(
      '<desc id="description">1.1.0: 25% of the installations now, 100% at +10h. 1.0.0: 75% of the installations now, 0% at +10h.</desc>',
    );
    expect(svg).toContain('prefers-color-scheme: dark');
  });

  it('has axes with labels, a legend, and an area for each version', () => {
    for (const text of [
      'share of installations',
      'time from now',
      '75%',
      '+10h',
      '1.1.0',
      '1.0.0',
    ]) {
      expect(svg).toMatch(new RegExp(`<text[^>]*>${text.replace(/[+.]/g, '\\$&')}</text>`));
    }
    expect(svg.match(/<path /g)).toHaveLength(2);
    expect(svg).not.toContain('NaN');
  });

  it('is drawn without a plan too', () => {
    const still = rampOf({ installations: 1, times: [time(0)] }, [total('1.0.0', 1)]);
    const drawn = renderRampSvg(still, 'Versions', 'in the present state');
    expect(drawn).not.toContain('NaN');
    expect(drawn).toContain('1.0.0: 100% of the installations.');
  });
});
