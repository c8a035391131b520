import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderJsonPage } from './json.ts';
import { renderReferences } from './references.ts';

/** Writes the references that are made from code. A test fails when the files differ from the code. */
const pages = [...renderReferences(), ['docs/publishing/json.md', await renderJsonPage()] as const];
for (const [file, text] of pages) {
  await writeFile(path.join(import.meta.dirname, '../..', file), text);
  console.log(file);
}
