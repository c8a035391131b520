import path from 'node:path';
import type { Project } from '../../../src/build-output/project/project.ts';
import { readText } from '../../../src/build-output/project/project-files.ts';
import type { Choices } from './choices.ts';

/** The names that Git must ignore: the settings, and the directory of a store in the project. */
export interface IgnoredNames {
  /** The `.gitignore`, absolute. */
  readonly path: string;
  /** The names that are not ignored yet. */
  readonly names: readonly string[];
  /** The text to add; empty: nothing is missing. */
  readonly added: string;
}

const FILE = '.gitignore';

export async function planIgnored(project: Project, { store }: Choices): Promise<IgnoredNames> {
  const { directory, root } = project;
  const own = await readText(directory, FILE);
  const above = directory === root ? undefined : await readText(root, FILE);
  // In a monorepo whose packages have no .gitignore, that of the root.
  const [text = '', place] =
    own === undefined && above !== undefined ? [above, root] : [own, directory];
  const prefix = path.relative(place, directory).split(path.sep).join('/');
  const wanted = [
    '.env',
    ...(store.kind === 'directory' ? folderInside(prefix, store.directory) : []),
  ];
  const lines = `${own ?? ''}\n${above ?? ''}`.split(/\r?\n/).map((line) => line.trim());
  const names = wanted.filter((name) => !lines.some((line) => ignores(line, name)));
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : end;
  const added = names.length === 0 ? '' : `${gap}${names.join(end)}${end}`;
  return { path: path.join(place, FILE), names, added };
}

/** A folder of the project, from the directory of the `.gitignore`; none for a place outside the project. */
function folderInside(prefix: string, directory: string): readonly string[] {
  const parts = directory.split(/[/\\]/).filter((part) => part !== '.' && part !== '');
  const isInside = parts.length > 0 && !parts.includes('..') && !path.isAbsolute(directory);
  return isInside ? [`/${path.posix.join(prefix, ...parts)}/`] : [];
}

/** Knows the usual patterns. An unnecessary line does no harm. */
function ignores(line: string, name: string): boolean {
  const [plain, wanted] = [line, name].map((text) =>
    text.replace(/^(\*\*)?\//, '').replace(/\/(\*\*?)?$/, ''),
  );
  return plain === wanted || (name === '.env' && ['.env*', '*.env', '.*'].includes(`${plain}`));
}
