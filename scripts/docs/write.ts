import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderReferences } from './references.ts';

/** Writes the references that are made from code. A test fails when the files differ from the code. */
for (const [file, text] of renderReferences()) {
  await writeFile(path.join(import.meta.dirname, '../..', file), text);
  console.log(file);
}
