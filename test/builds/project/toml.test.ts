import { describe, expect, it } from 'vitest';
import { parseToml } from '../../../src/builds/project/toml.ts';

describe('TOML', () => {
  it('has lists on several lines, with comments and empty lines between', () => {
    const text = `[bundle] # a table
targets = [ # a list
  "deb", 'app',

  # "msi",
  "dmg" ]
name = "after"
open = [ "never closed"
`;
    expect(parseToml(text)).toEqual({ bundle: { targets: ['deb', 'app', 'dmg'], name: 'after' } });
  });

  // Copying or searching the whole list again for each line would take minutes.
  it('has a list of any number of lines', () => {
    const lines = Array.from({ length: 200_000 }, () => '"a",').join('\n');
    const { list, last } = parseToml(`list = [\n${lines}\n]\nlast = true\n`);
    expect([(list as string[]).length, last]).toEqual([200_000, true]);
    expect(parseToml(`first = "x"\nlist = [\n${lines}`)).toEqual({ first: 'x' });
  });

  it('has a line with any number of spaces or brackets', () => {
    const spaces = ' '.repeat(500_000);
    expect(parseToml(`a${spaces}b\nc${spaces}= 1\nd = "e"`)).toEqual({ d: 'e' });
    expect(parseToml(`a = "${'=['.repeat(200_000)}]"\nd = "e"`).d).toBe('e');
  });
});
