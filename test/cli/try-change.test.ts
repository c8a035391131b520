import { describe, expect, it } from 'vitest';
import { splitWords } from '../../src/cli/try-change.ts';

describe('the words of a line', () => {
  it.each<[string, readonly string[]]>([
    ['rollout 1.5.0 25%', ['rollout', '1.5.0', '25%']],
    ['  pause\t1.4.0 \n', ['pause', '1.4.0']],
    [
      'rollout 1.5.0 --plan "linear 0%@0h,100%@7d"',
      ['rollout', '1.5.0', '--plan', 'linear 0%@0h,100%@7d'],
    ],
    [`yank 1.4.0 --reason='it''s "bad"'`, ['yank', '1.4.0', '--reason=its "bad"']],
    ['pause 1 --reason "say \\"no\\" \\n"', ['pause', '1', '--reason', 'say "no" \\n']],
    ["pause 1 --reason it\\'s\\ bad", ['pause', '1', '--reason', "it's bad"]],
    ['pause 1 --reason ""', ['pause', '1', '--reason', '']],
    ['', []],
  ])('%s', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  it.each(['pause "1.4.0', "pause '1.4.0", 'pause 1.4.0\\', 'pause "1.4.0\\"'])(
    'refuses %s',
    (line) => {
      expect(() => splitWords(line)).toThrow(/not closed, or ends with a backslash/);
    },
  );
});
