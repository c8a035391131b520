import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderSchemas } from '../src/features/stored-documents.ts';

/** Writes the JSON Schemas of the stored format into `manifests/`. A test fails when the files there differ. */
for (const [file, text] of renderSchemas()) {
  await writeFile(path.join(import.meta.dirname, '..', 'manifests', file), text);
  console.log(`manifests/${file}`);
}
