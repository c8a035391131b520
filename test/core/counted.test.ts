import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { counted, listed } from '../../src/core/counted.ts';

describe('counts in messages', () => {
  it('agree with their nouns', () => {
    expect([0, 1, 2].map((count) => counted(count, 'problem'))).toEqual([
      '0 problems',
      '1 problem',
      '2 problems',
    ]);
    expect(counted(2, 'entry', 'entries')).toBe('2 entries');
  });

  it('say how many names a list has beside the first ones', () => {
    expect(listed([])).toBe('');
    expect(listed(['1.0.0', '1.1.0'], 2)).toBe('1.0.0, 1.1.0');
    expect(listed(['1.0.0', '1.1.0', '1.2.0'], 2)).toBe('1.0.0, 1.1.0 and 1 more');
    expect(listed(Array.from({ length: 5_000 }, (_, n) => `${n}`))).toMatch(
      /^0, .*, 9 and 4990 more$/,
    );
  });

  it('what commands print has no count beside a plural that never changes', () => {
    const root = path.resolve(import.meta.dirname, '../../src');
    const files = readdirSync(root, { recursive: true }).map(String);
    const found = files
      .filter((file) => /^(cli|features)\b.*\.ts$/.test(file))
      .flatMap((file) => {
        const text = readFileSync(path.join(root, file), 'utf8');
        if (!file.startsWith('cli') && !text.includes("/cli/terminal.ts'")) return [];
        return (text.match(/(length|[cC]ount|Checked|Uploads)\} \w+s\b/g) ?? []).filter(
          (match) => !/ (bytes|has|is)$/.test(match),
        );
      });
    expect(found).toEqual([]);
  });
});
