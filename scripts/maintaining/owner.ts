import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { isOwner, readOwner, replaceOwner } from './owner-text.ts';
import { PROJECT, readProjectFile, readTextFiles } from './project-files.ts';

/**
 * `npm run owner -- ACCOUNT` writes the account on GitHub that has the repository into every file that names it.
 * package.json says which account the files name so far, so the command also works when the project moves.
 */
const [account, ...others] = process.argv.slice(2);
if (account === undefined || others.length > 0 || !isOwner(account)) {
  console.error(
    'Name the account on GitHub that has the repository, such as: npm run owner -- acme\n' +
      'An account has letters, digits and single hyphens, and at most 39 characters.',
  );
  process.exit(2);
}

const before = readOwner(readProjectFile('package.json'));
const changed: string[] = [];
for (const [file, text] of readTextFiles()) {
  const after = replaceOwner(text, before, account);
  if (after === text) continue;
  writeFileSync(path.join(PROJECT, file), after);
  changed.push(file);
}

if (changed.length === 0) {
  console.log(`The files already name ${account}. Nothing was changed.`);
} else {
  console.log(`${changed.length} files name ${account} now, in the place of ${before}:`);
  for (const file of changed) console.log(`  ${file}`);
  console.log('Next: "npm run fix", because a line may be too long now, "npm test", and commit.');
}
