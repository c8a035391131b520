import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes the files of a project, by their paths with `/`. An object becomes JSON. */
export async function writeProject(
  directory: string,
  files: Readonly<Record<string, string | object>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, ...name.split('/'));
    await mkdir(path.dirname(file), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    await writeFile(file, text);
  }
}

/** What a clone of `git@github.com:acme/notes.git` has, as far as it matters. */
export function gitRemote(url: string): Readonly<Record<string, string>> {
  return {
    '.git/config': `[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n`,
  };
}
