import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SETTING_NAMES } from '../src/config.ts';

const read = (file: string) => readFileSync(path.join(import.meta.dirname, '..', file), 'utf8');

describe('the documents', () => {
  it.each(SETTING_NAMES)('%s is in the README table and in .env.example', (name) => {
    expect(read('README.md')).toMatch(new RegExp(`^\\|.*\`${name}\``, 'm'));
    expect(read('.env.example')).toContain(`${name}=`);
  });

  it('name a reason for every package', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const reasons = read('CONTRIBUTING.md');
    const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const unexplained = names.filter(
      (name) => !name.startsWith('@types/') && !reasons.includes(`\`${name}\``),
    );
    expect(unexplained).toEqual([]);
  });
});
