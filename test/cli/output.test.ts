import { describe, expect, it } from 'vitest';
import { alignColumns, fitColumns, fitRow, printJson } from '../../src/cli/output.ts';
import { print, type Terminal } from '../../src/cli/terminal.ts';
import { createTextSink } from '../../src/cli/text-sink.ts';

function printed(run: (terminal: Terminal) => void): string {
  const stdout = createTextSink();
  run({ stdout: stdout.stream } as unknown as Terminal);
  return stdout.text();
}

const HOSTILE = 'ada\u202e\u2028\u001b[2J 👩\u200d🚀';

describe('the output of commands', () => {
  it('escapes in each line what a terminal would obey', () => {
    const lines = printed((terminal) => print(terminal, `by ${HOSTILE}\nnext`));
    expect(lines).toBe('by ada<U+202E><U+2028><U+001B>[2J 👩<U+200D>🚀\nnext\n');
  });

  it('leaves the texts in JSON as they are', () => {
    expect(JSON.parse(printed((terminal) => printJson(terminal, { by: HOSTILE })))).toEqual({
      by: HOSTILE,
    });
    expect(printed((terminal) => printJson(terminal, { by: HOSTILE }))).toContain('👩\u200d🚀');
  });

  it('cuts columns to the width that they have once they are escaped', () => {
    const rows = [['1', '\u202e'.repeat(40), '\u0007'.repeat(40)]];
    const [line = ''] = alignColumns(fitColumns(rows, 60, [1, 2]));
    expect(line).toHaveLength(60);
  });

  it.each([
    ['fits', 'abcdef', 6, 'abcdef'],
    ['is cut before the sign of the cut', 'abcdefg', 6, 'abcd…'],
    ['has wide characters', '漢漢漢漢', 6, '漢漢…'],
    ['ends between the columns of a wide character', 'a漢漢漢', 6, 'a漢…'],
    ['has line breaks and tabs', 'a\n\tb', 6, 'a  b'],
    ['has only spaces', ' '.repeat(5_000), 6, '    …'],
    ['is empty', '', 6, ''],
    ['has no room', 'abc', 1, '…'],
  ])('makes one row from a text that %s', (_name, text, width, row) => {
    expect(fitRow(text, width)).toBe(row);
  });
});
