import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unpinnedIn } from '../support/unpinned.ts';

/** Every action and every image in files that users run or copy. `test/features/init/init-ci.test.ts` has the generated ones. */

const ROOT = path.resolve(import.meta.dirname, '../..');
const FILES = [
  ...['README.md', 'action.yml', 'docker-compose.yml', 'Dockerfile', 'CONTRIBUTING.md'],
  ...['docs', 'deploy', 'examples', '.github'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(md|ya?ml)$|Dockerfile/.test(name))
      .map((name) => path.join(folder, name)),
  ),
];

it.each(FILES)('%s names no action and no image by a tag alone', (file) => {
  expect(unpinnedIn(readFileSync(path.join(ROOT, file), 'utf8'))).toEqual([]);
});

describe('what is not fixed', () => {
  it.each([
    '- uses: actions/checkout@v4',
    '  uses: "actions/checkout@main" # v6',
    '- uses: actions/checkout@de0fac2',
    '- uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd',
    '    image: node:24',
    'image: "node"',
    '  image: node@sha256:63805ebb8d2b3920190daf1cb14a60871b16fd38bed42b857a3182bc621f4996',
    'FROM node:24 AS build',
  ])('%s is found', (line) => {
    expect(unpinnedIn(`jobs:\n${line}\n`)).toHaveLength(1);
  });
});
