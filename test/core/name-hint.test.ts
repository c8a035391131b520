import { describe, expect, it } from 'vitest';
import { didYouMean, known } from '../../src/core/name-hint.ts';

describe('the hint for an unknown name', () => {
  it.each([
    ['bta', ['stable', 'beta'], 'Did you mean beta? '],
    ['ebta', ['stable', 'beta'], 'Did you mean beta? '],
    ['betaa', ['stable', 'beta'], 'Did you mean beta? '],
    ['1.6.1', ['1.6.0', '1.6.2', '2.0.0'], 'Did you mean 1.6.0 or 1.6.2? '],
    ['nightly', ['stable', 'beta'], ''],
    ['x', ['a', 'b'], ''],
    ['', ['a', 'bc'], ''],
    ['1.0.9', ['1.0.1', '1.0.2', '1.0.3', '1.0.4'], ''],
    ['beta', [], ''],
  ])('%s among %j', (wanted, names, expected) => {
    expect(didYouMean(wanted, names)).toBe(expected);
  });

  it('comes before the known names', () => {
    expect(known('Channels', ['stable', 'beta'], 'bta')).toBe(
      'Did you mean beta? Channels: stable, beta.',
    );
    expect(known('Channels', ['stable'])).toBe('Channels: stable.');
    expect(known('Channels', [], 'beta')).toBe('There are none yet.');
  });
});
