import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { drawPicture, PICTURE, ROOT } from './picture.ts';

/** `npm run picture`. A test fails when the picture differs from what the commands print. */
await writeFile(PICTURE, await drawPicture());
console.log(path.relative(ROOT, PICTURE));
