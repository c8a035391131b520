import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { drawPicture, PICTURE } from '../../scripts/docs/picture.ts';
import { hasProgram } from '../support/programs.ts';

const hasCurl = await hasProgram('curl');

it.skipIf(!hasCurl)('the picture shows what the commands print (npm run picture)', async () => {
  expect(await drawPicture()).toBe(readFileSync(PICTURE, 'utf8'));
});
