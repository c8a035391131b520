import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeEarlyNotes } from './before-first.ts';
import { releaseChanges } from './changelog.ts';
import { PROJECT, textFiles } from './project-files.ts';

/**
 * npm runs this when a maintainer calls `npm version`, after the new version is in package.json. It gives the changes in
 * CHANGELOG.md their version and today's date, and removes the notes that are true only before the first release.
 */
const { version } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8'));
const changelog = path.join(PROJECT, 'CHANGELOG.md');
const today = new Date().toISOString().slice(0, 10);
writeFileSync(changelog, releaseChanges(readFileSync(changelog, 'utf8'), version, today));
console.log(`CHANGELOG.md: the unreleased changes are now ${version} - ${today}.`);

// After a pre-release, users still have no release.
const documents = version.includes('-') ? [] : textFiles().filter((name) => name.endsWith('.md'));
for (const file of documents) {
  const text = readFileSync(path.join(PROJECT, file), 'utf8');
  const after = removeEarlyNotes(text);
  if (after === text) continue;
  writeFileSync(path.join(PROJECT, file), after);
  console.log(`${file}: removed the note for the time before the first release.`);
}
console.log('Next: look at the difference, and open a pull request with it.');
