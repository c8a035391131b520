import path from 'node:path';
import type { Project } from '../../builds/project/project.ts';
import { readText } from '../../builds/project/project-files.ts';
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

/** An existing `.gitignore` of the project's directory, or of a directory above it. */
interface IgnoreFile {
  readonly directory: string;
  readonly text: string;
  /** The path from `directory` to the project's directory; empty when they are the same. */
  readonly prefix: string;
}

const FILE = '.gitignore';
const SETTINGS = '.env';

export async function planIgnored(project: Project, { store }: Choices): Promise<IgnoredNames> {
  const files = await readIgnoreFiles(project);
  // The file that is nearest to the project takes precedence over files in directories above.
  const { directory, text, prefix }: IgnoreFile = files.at(-1) ?? {
    directory: project.directory,
    text: '',
    prefix: '',
  };
  const wanted = [SETTINGS, ...(store.kind === 'directory' ? folderInside(store.directory) : [])];
  const names = wanted
    .filter((name) => !isIgnored(name, files))
    .map((name) => (name === SETTINGS ? name : `/${path.posix.join(prefix, name)}/`));
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : end;
  const added = names.length === 0 ? '' : `${gap}${names.join(end)}${end}`;
  return { path: path.join(directory, FILE), names, added };
}

/** Reads the files from the root of the repository down to the project, in the order in which Git applies them. */
async function readIgnoreFiles({ root, directory }: Project): Promise<readonly IgnoreFile[]> {
  const below = path.relative(root, directory).split(path.sep);
  const found: IgnoreFile[] = [];
  for (let depth = 0; depth <= (root === directory ? 0 : below.length); depth++) {
    const at = path.join(root, ...below.slice(0, depth));
    const text = await readText(at, FILE);
    if (text !== undefined) {
      found.push({ directory: at, text, prefix: below.slice(depth).join('/') });
    }
  }
  return found;
}

/** The path of a folder inside the project, relative to the project; empty for a directory outside the project. */
function folderInside(directory: string): readonly string[] {
  const parts = directory.split(/[/\\]/).filter((part) => part !== '.' && part !== '');
  const isInside = parts.length > 0 && !parts.includes('..') && !path.isAbsolute(directory);
  return isInside ? [parts.join('/')] : [];
}

/** As in Git, the last line about a name decides. */
function isIgnored(name: string, files: readonly IgnoreFile[]): boolean {
  let ignored = false;
  for (const { text, prefix } of files) {
    for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
      if (line.startsWith('!')) ignored &&= !mayInclude(line.slice(1), name);
      else ignored ||= ignores(line, name, prefix);
    }
  }
  return ignored;
}

/** Recognizes the usual patterns. For any other pattern, the command adds an unnecessary line, which does no harm. */
function ignores(line: string, name: string, prefix: string): boolean {
  const plain = line.replace(/^(\*\*)?\//, '').replace(name === SETTINGS ? '' : /\/(\*\*?)?$/, '');
  if (plain === path.posix.join(prefix, name)) return true;
  // A slash at the start or inside a line binds the line to the directory of its `.gitignore`.
  if (prefix !== '' && (line.startsWith('/') || plain.includes('/'))) return false;
  return plain === name || (name === SETTINGS && ['.env*', '*.env', '.*'].includes(plain));
}

/** True when a line after `!` can be about the name: the texts before and after its wildcards fit. */
function mayInclude(line: string, name: string): boolean {
  const last = path.posix.basename(line);
  const wanted = path.posix.basename(name);
  const [before = ''] = /^[^*?[\\]*/.exec(last) ?? [];
  const [after = ''] = /[^*?\]\\]*$/.exec(last) ?? [];
  return wanted.startsWith(before) && wanted.endsWith(after);
}
