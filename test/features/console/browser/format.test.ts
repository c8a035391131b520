import { describe, expect, it } from 'vitest';
import {
  counted,
  dateAndTime,
  listed,
  percent,
  portion,
  relative,
  span,
  utc,
  withLocalTimes,
} from '../../../../src/features/console/browser/format.ts';
import { size } from '../../../../src/web/browser/size.ts';

describe('how the console writes values', () => {
  it('writes the times in sentences of the server as all others, and leaves other numbers', () => {
    const at = Date.parse('2026-11-25T15:25:01Z');
    const sentence = '4.1.1 waits for macos-x64 since 2026-11-25 15:25:01Z (HRB-2391).';
    expect(withLocalTimes(sentence)).toBe(
      `4.1.1 waits for macos-x64 since ${dateAndTime(at)} (HRB-2391).`,
    );
  });

  it.each([
    [0, '0 %'],
    [1, '0.01 %'],
    [2550, '25.5 %'],
    [10_000, '100 %'],
  ])('a share of %i in 1/100 %% is %s', (share, text) => {
    expect(percent(share)).toBe(text);
  });

  it.each([
    [null, '–'],
    [0, '0.0 %'],
    [0.0004, '< 0.1 %'],
    [1, '100.0 %'],
  ])('the part %s is %s', (part, text) => {
    expect(portion(part)).toBe(text);
  });

  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1_000, '1.0 kB'],
    [999_960, '1.0 MB'],
    [81_788_928, '81.8 MB'],
    [2e15, '2000.0 TB'],
  ])('%i bytes are %s', (bytes, text) => {
    expect(size(bytes)).toBe(text);
  });

  it.each([
    [0, 'now'],
    [40, '40 seconds ago'],
    [60, '1 minute ago'],
    [-7_200, 'in 2 hours'],
    [86_400 * 59, '59 days ago'],
    [86_400 * 90, '3 months ago'],
    [86_400 * 800, '2 years ago'],
  ])('%i seconds ago is "%s"', (seconds, text) => {
    expect(relative(1e12 - seconds * 1000, 1e12)).toBe(text);
  });

  it('writes spans, counts and lists', () => {
    expect(span(3_599)).toBe('59 minutes');
    expect(counted(1, 'release')).toBe('1 release');
    expect(counted(1_200, 'release')).toBe('1,200 releases');
    expect(listed(['a', 'b', 'c'])).toBe('a, b and c');
    expect(listed([])).toBe('');
  });

  it('shows a time that it cannot read as it is', () => {
    expect(utc('2026-11-22T14:03:12Z')).toBe('2026-11-22 14:03:12 UTC');
    expect(utc('soon')).toBe('soon');
  });
});
