import { countLicenses, findUnknownLicenses } from './license-kinds.ts';
import { readProjectFile } from './project-files.ts';

/** `npm run licenses` counts the licences of all packages, and fails when the project does not accept one of them. */
const lock = readProjectFile('package-lock.json');
for (const [use, counts] of countLicenses(lock)) {
  console.log(`${use}:`);
  for (const [license, count] of counts) console.log(`${String(count).padStart(5)}  ${license}`);
}
const unknown = findUnknownLicenses(lock);
if (unknown.length > 0) {
  console.error(
    `\nThis project does not accept the licences of these packages:\n  ${unknown.join('\n  ')}\n` +
      'Read each licence. Then choose another package, or add the licence to scripts/maintaining/license-kinds.ts.',
  );
  process.exit(1);
}
console.log('\nThis project accepts every licence.');
