import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuiltPackage, lineOf } from './nupkg-build.ts';

/** Squirrel.Windows' own classes under mono: see squirrel-client.cs. */

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL('squirrel-client.cs', import.meta.url));
const VENDOR = path.join(
  path.dirname(createRequire(import.meta.url).resolve('electron-winstaller/package.json')),
  'vendor',
);

interface SquirrelEntry {
  readonly version: string;
  /** The line, as Squirrel writes it. */
  readonly line: string;
}

export interface SquirrelUpdate {
  readonly current: SquirrelEntry | undefined;
  readonly future: SquirrelEntry | undefined;
  /** What Squirrel downloads and applies; empty: no update. */
  readonly apply: readonly SquirrelEntry[];
  /** The files that it has now, beside the installed package, by name. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly error: string | undefined;
}

export interface SquirrelClient {
  parse(text: string): Promise<readonly SquirrelEntry[]>;
  /** An application that was installed from a package. @param verb `update-full`: without deltas */
  ask(
    verb: 'check' | 'update' | 'update-full',
    url: string,
    installed: BuiltPackage,
  ): Promise<SquirrelUpdate>;
  /** What `remoteReleases` of electron-winstaller does before a build. @returns the names of the files */
  sync(url: string): Promise<readonly string[]>;
}

/** Compiles the client into a directory. */
export async function createSquirrelClient(directory: string): Promise<SquirrelClient> {
  const program = path.join(directory, 'squirrel-client.exe');
  await mkdir(directory, { recursive: true });
  await run('mcs', [`-out:${program}`, SOURCE]);
  const squirrel = path.join(VENDOR, 'Squirrel.exe');
  const start = async (...rest: readonly string[]): Promise<readonly string[]> => {
    const options = { timeout: 60_000, maxBuffer: 4 * 1024 * 1024 };
    const { stdout } = await run('mono', [program, squirrel, ...rest], options).catch(
      (error: { stdout?: string }) => {
        if (error.stdout?.includes('error ') !== true) throw error;
        return { stdout: error.stdout };
      },
    );
    return stdout.split('\n');
  };
  let count = 0;

  return {
    sync: async (url) => {
      const output = path.join(directory, `output ${++count}`);
      await mkdir(output);
      const words = [path.join(VENDOR, 'SyncReleases.exe'), '-u', url, '-r', output];
      await run('mono', words, { timeout: 60_000 });
      return (await readdir(output)).sort();
    },
    parse: async (text) => {
      const file = path.join(directory, `RELEASES ${++count}`);
      await writeFile(file, text);
      const lines = await start('parse', file);
      const error = lines.find((line) => line.startsWith('error '));
      if (error !== undefined) throw new Error(error);
      return entriesOf(lines, 'entry');
    },
    ask: async (verb, url, installed) => {
      const root = path.join(directory, `installation ${++count}`);
      const packages = path.join(root, 'App', 'packages');
      await mkdir(packages, { recursive: true });
      await writeFile(path.join(packages, installed.name), installed.bytes);
      await writeFile(path.join(packages, 'RELEASES'), lineOf(installed));
      const lines = await start(verb, url, root, 'App');
      const files = new Map<string, Buffer>();
      for (const name of await readdir(packages)) {
        const isNew = name.endsWith('.nupkg') && name !== installed.name;
        if (isNew) files.set(name, await readFile(path.join(packages, name)));
      }
      return {
        current: entriesOf(lines, 'current')[0],
        future: entriesOf(lines, 'future')[0],
        apply: entriesOf(lines, 'apply'),
        files,
        error: lines.find((line) => line.startsWith('error ')),
      };
    },
  };
}

function entriesOf(lines: readonly string[], fact: string): readonly SquirrelEntry[] {
  return lines
    .filter((line) => line.startsWith(`${fact} `))
    .map((line) => {
      const [, version = '', ...rest] = line.split(' ');
      return { version, line: rest.join(' ') };
    });
}
