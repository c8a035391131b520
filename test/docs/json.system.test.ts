import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { renderJsonPage } from '../../scripts/docs/json.ts';

const PAGE = path.join(import.meta.dirname, '../../docs/publishing/json.md');

it('the JSON of commands has the documented shapes (npm run docs)', async () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(await renderJsonPage());
});
