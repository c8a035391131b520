import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { builtOutput } from '../../src/web/browser-files.ts';
import { buildBrowserFiles } from '../../src/web/build-browser-files.ts';

/**
 * Builds the files that browsers load. @param dist the directory of the built service, which reads the files from
 * `browser/` in this directory
 */
export async function writeBrowserFiles(dist: string): Promise<void> {
  const browser = path.join(dist, 'browser');
  // Removes the files of an earlier build: their names have other hashes, so this build would not replace them.
  await rm(browser, { recursive: true, force: true });
  for (const [name, bytes] of builtOutput(await buildBrowserFiles())) {
    const file = path.join(browser, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
}
