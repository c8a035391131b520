import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { notesOf, withAbsoluteLinks } from './changelog.ts';
import { findObstacles } from './check-release.ts';
import { readOwner } from './owner-text.ts';
import { readDocuments, readProjectFile } from './project-files.ts';

/**
 * Refuses to release sources that contradict each other: `check.ts [TAG] [--notes FILE]`. With `--notes`, it writes the
 * section of CHANGELOG.md to the file. npm calls it before it publishes, so that a maintainer cannot publish by mistake.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { notes: { type: 'string' } },
});
const packageJson = readProjectFile('package.json');
const changelog = readProjectFile('CHANGELOG.md');
const obstacles = findObstacles({
  tag: positionals[0],
  packageJson,
  packageLock: readProjectFile('package-lock.json'),
  changelog,
  documents: readDocuments(),
});
if (obstacles.length > 0) {
  console.error(
    `These sources cannot be released. Correct each point:\n  - ${obstacles.join('\n  - ')}`,
  );
  process.exit(1);
}
const { version } = JSON.parse(packageJson) as { version: string };
if (values.notes !== undefined) {
  const files = `https://github.com/${readOwner(packageJson)}/slipway/blob/v${version}/`;
  writeFileSync(values.notes, withAbsoluteLinks(notesOf(changelog, version), files));
}
console.log(`Everything agrees on version ${version}.`);
