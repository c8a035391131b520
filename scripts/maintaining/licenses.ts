import { readFileSync } from 'node:fs';
import path from 'node:path';
import { countLicenses, findUnknownLicenses } from './license-kinds.ts';
import { PROJECT } from './project-files.ts';

/** `npm run licenses` counts the licences of all packages, and fails when one has a kind that is not accepted yet. */
const lock = readFileSync(path.join(PROJECT, 'package-lock.json'), 'utf8');
for (const [use, counts] of countLicenses(lock)) {
  console.log(`${use}:`);
  for (const [license, count] of counts) console.log(`${String(count).padStart(5)}  ${license}`);
}
const unknown = findUnknownLicenses(lock);
if (unknown.length > 0) {
  console.error(
    `\nThese packages have licences of a kind that is not accepted yet:\n  ${unknown.join('\n  ')}\n` +
      'Read the licence. Then choose another package, or add the kind to scripts/maintaining/license-kinds.ts.',
  );
  process.exit(1);
}
console.log('\nEvery licence is of an accepted kind.');
