import { describe, expect, it } from 'vitest';
import { parseFreezeWindow } from '../../src/domain/freeze-window.ts';
import { parseRollout, parseShare, shareText } from '../../src/domain/rollout-text.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const parse = (text: string, ...windows: string[]) => parseRollout(text, windows, NOW);

describe('percentages', () => {
  it.each([
    ['0', 0],
    ['0%', 0],
    ['0.25%', 25],
    ['5%', 500],
    [' 12.5 % ', 1250],
    ['33.33%', 3333],
    ['100%', 10_000],
  ])('reads %j', (text, share) => expect(parseShare(text)).toBe(share));

  it.each(['', '%', '5', '25', '101%', '-5%', '1.234%', '1e1%', '٥%', '5 percent', 'all', '1,5%'])(
    'refuses %j',
    (text) =>
      expect(() => parseShare(text)).toThrow(
        expect.objectContaining({
          code: 'invalid_rollout',
          message: expect.stringContaining('such as 5% or 0.25%'),
        }),
      ),
  );

  it('are written as they are read', () => {
    for (const share of [0, 1, 25, 100, 3333, 10_000]) {
      expect(parseShare(shareText(share))).toBe(share);
    }
  });
});

describe('plans', () => {
  it('are read', () => {
    expect(parse('1%@30m, 10%@6h,100%@2d')).toEqual({
      text: '1%@30m, 10%@6h,100%@2d',
      steps: [
        { share: 100, afterMs: 1_800_000 },
        { share: 1000, afterMs: 21_600_000 },
        { share: 10_000, afterMs: 172_800_000 },
      ],
      isLinear: false,
      windows: [],
    });
    expect(parse('linear 0@0h,100%@1d', 'fri 16:00..mon 08:00 Europe/Berlin')).toMatchObject({
      isLinear: true,
      windows: [{ text: 'fri 16:00..mon 08:00 Europe/Berlin', zone: 'Europe/Berlin' }],
    });
  });

  it('take the last of the absolute times that have passed, or that one window contains', () => {
    const { steps } = parse('1%@2026-11-19T10:00Z,5%@2026-11-19T11:00Z,9%@2026-11-20T13:00Z');
    expect(steps).toEqual([
      { share: 500, afterMs: 0 },
      { share: 900, afterMs: 3_600_000 },
    ]);
    const window = 'Fri 14:00..Mon 08:00 UTC';
    expect(parse('1%@0h,5%@2026-11-21T10:00Z,9%@2026-11-22T10:00Z', window).steps).toEqual([
      { share: 100, afterMs: 0 },
      { share: 900, afterMs: 7_201_000 },
    ]);
  });

  it.each([
    ['1%@', '"1%@" is not a step'],
    ['1%@0h,', '"" is not a step'],
    ['1%@6', 'is not a step'],
    ['1%@6w', 'is not a step'],
    ['1%@1h@2h', 'is not a step'],
    ['1%@2026-11-21', 'is not a step'],
    ['1%@2026-13-21T00:00Z', 'is not a step'],
    ['1%@2026-11-21T10:00', 'is not a step'],
    ['x@1h', 'is not a percentage'],
    ['5%,25%', '"5%,25%" is not a plan: write each step as a percentage and a time, SHARE@TIME'],
    ['linear 5%', 'is not a plan: write each step'],
    ['1,5%', '"1,5%" is not a percentage'],
    ['10%@0h,5%@6h', 'The plan lowers the share from 10% to 5%'],
    ['1%@6h,5%@6h', 'Step 2 of the plan (5%) does not come after'],
    ['1%@6h,5%@1h', 'does not come after the step before it'],
    ['1%@2026-11-22T10:00Z,5%@2026-11-22T09:00Z', 'does not come after the step before it'],
    ['1%@2026-02-30T09:00:00Z', 'is not a step'],
    ['1%@0h,5%@367d', 'at most 366 days'],
    [Array.from({ length: 51 }, (_, n) => `1%@${n}h`).join(','), 'at most 50 steps'],
  ])('refuses %j', (text, message) =>
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_rollout',
        message: expect.stringContaining(message),
      }),
    ),
  );
});

describe('freeze windows', () => {
  it.each([
    '',
    'Fri 16:00',
    'Fri 16:00..Mon 08:00',
    'Fri 16:00..Mon 08:00 Europe/Nowhere',
    'Fri 24:00..Mon 08:00 UTC',
    'Fri 16:60..Mon 08:00 UTC',
    'Fry 16:00..Mon 08:00 UTC',
    'Fri 16:00..Fri 16:00 UTC',
  ])('refuses %j', (text) => {
    expect(parseFreezeWindow(text)).toBeUndefined();
    expect(() => parse('1%@0h', text)).toThrow(/is not a freeze window/);
  });

  it('refuses more than ten', () => {
    const windows = Array.from({ length: 11 }, (_, n) => `Mon 0${n % 10}:00..Tue 12:00 UTC`);
    expect(() => parse('1%@0h', ...windows)).toThrow(/At most 10/);
  });
});
