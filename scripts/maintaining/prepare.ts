import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeEarlyNotes } from './before-first.ts';
import { releaseChanges } from './changelog.ts';
import { PROJECT, readDocuments, readProjectFile } from './project-files.ts';

/**
 * npm runs this when a maintainer calls `npm version`, after the new version is in package.json. It gives the changes in
 * CHANGELOG.md their version and today's date, and removes the notes that are true only before the first release.
 */
const { version } = JSON.parse(readProjectFile('package.json'));
const today = new Date().toISOString().slice(0, 10);
const changelog = releaseChanges(readProjectFile('CHANGELOG.md'), version, today);
writeFileSync(path.join(PROJECT, 'CHANGELOG.md'), changelog);
console.log(`CHANGELOG.md: the unreleased changes are now ${version} - ${today}.`);

// After a pre-release, users still have no release.
const documents = version.includes('-') ? [] : readDocuments();
for (const [file, text] of documents) {
  const after = removeEarlyNotes(text);
  if (after === text) continue;
  writeFileSync(path.join(PROJECT, file), after);
  console.log(`${file}: removed the note for the time before the first release.`);
}
console.log('Next: look at the difference, and open a pull request with it.');
