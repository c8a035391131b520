import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readConfiguration } from '../../../src/builds/project/project-files.ts';
import { readProject } from '../../../src/builds/project/read-project.ts';
import { writeProject } from '../../support/project-files.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

const directories: Awaited<ReturnType<typeof makeTemporaryDirectory>>[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const directory of directories.splice(0)) await directory.remove();
});

async function make(files: Readonly<Record<string, string | object>>): Promise<string> {
  const directory = await makeTemporaryDirectory();
  directories.push(directory);
  await writeProject(directory.path, files);
  return directory.path;
}

async function read(name: string, text: string) {
  return readConfiguration(await make({ [name]: text }), name);
}

describe('TOML', () => {
  const parse = (text: string) => read('Tauri.toml', text);

  it('has lists on several lines, with comments and empty lines between', async () => {
    const text = `[bundle] # a table
targets = [ # a list
  "deb", 'app',

  # "msi",
  "dmg" ]
name = "after"
`;
    expect(await parse(text)).toEqual({
      bundle: { targets: ['deb', 'app', 'dmg'], name: 'after' },
    });
  });

  // Copying or searching the whole list again for each line would take minutes.
  it('has a list of any number of lines', async () => {
    const lines = Array.from({ length: 200_000 }, () => '"a",').join('\n');
    const { list, last } = (await parse(`list = [\n${lines}\n]\nlast = true\n`)) ?? {};
    expect([(list as string[]).length, last]).toEqual([200_000, true]);
    await expect(parse(`first = "x"\nlist = [\n${lines}`)).rejects.toThrow(/not valid TOML/);
  });

  it('has a line with any number of spaces or brackets', async () => {
    const spaces = ' '.repeat(500_000);
    expect(await parse(`c${spaces}= 1\nd = "e"`)).toEqual({ c: 1, d: 'e' });
    expect((await parse(`a = "${'=['.repeat(200_000)}]"\nd = "e"`))?.d).toBe('e');
  });

  it('has keys of any depth, dates, and numbers that JavaScript cannot hold', async () => {
    const deep = `${'a.'.repeat(100_000)}a = 1`;
    const others = 'made = 2026-01-02\nlarge = 9223372036854775807\n';
    const value = (await parse(`${others}__proto__ = "x"\nconstructor = "y"\n${deep}`)) ?? {};
    expect(value.large).toBe(9_223_372_036_854_775_807n);
    expect(Object.keys(value)).toEqual(['made', 'large', '__proto__', 'constructor', 'a']);
  });

  it.each([
    ['a = [ "never closed"\n', 'line 2, column 1'],
    ['a = 1\na = 2\n', 'line 2, column 1'],
    ['a = {{name}}\n', 'line 1, column 6'],
    [`a = ${'['.repeat(500_000)}`, 'line 1, column 105'],
    [`a = ${'{a='.repeat(300_000)}`, 'line 1, column 305'],
  ])('is refused by the place of what is wrong: %#', async (text, place) => {
    const refused = parse(text);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(refused).rejects.toThrow(
      `Tauri.toml: it is not valid TOML (${place}). Correct it, and run the command again.`,
    );
  });
});

describe('JSON5', () => {
  const parse = (text: string) => read('tauri.conf.json5', text);

  it.each([
    ['{ a: ', 'line 1, column 6'],
    ['{ a: b }', 'line 1, column 6'],
    ["{\n  a: 'one\n", 'line 3, column 0'],
    ['{ a: "\\', 'line 1, column 8'],
    [`{ a: "${'\\"'.repeat(400_000)}\\`, 'line 1, column 800008'],
    ['['.repeat(500_000), 'line 1, column 500001'],
  ])('is refused by the place of what is wrong: %#', async (text, place) => {
    const refused = parse(text);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(refused).rejects.toThrow(
      `tauri.conf.json5: it is not valid JSON (${place}). Correct it, and run the command again.`,
    );
  });

  it('has line separators in texts, without a warning for each', async () => {
    const warn = vi.spyOn(console, 'warn');
    expect(await parse('{ a: "b\u2028c\u2029d" }')).toEqual({ a: 'b c d' });
    expect(warn).not.toHaveBeenCalled();
  });

  it.each(['tauri.conf.json', 'tauri.conf.json5', 'Tauri.toml'])(
    'and others may nest deeply where a list of names is expected: %s',
    async (name) => {
      const depth = name === 'Tauri.toml' ? 90 : 100_000;
      const targets = `${'['.repeat(depth)}"deb"${']'.repeat(depth)}`;
      const text = name.endsWith('.toml')
        ? `[bundle]\ntargets = ${targets}`
        : `{"bundle":{"targets":${targets}}}`;
      const directory = await make({ [path.join('src-tauri', name)]: text });
      expect((await readProject(directory)).tool?.platforms).toHaveLength(3);
    },
  );
});
