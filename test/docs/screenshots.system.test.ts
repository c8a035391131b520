import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, skipsBrowser } from '../e2e/website-page.ts';
import { makeTemporaryDirectory } from '../support/release.ts';

/**
 * Draws the pictures of the pages again, and compares their sizes and the texts of their screens with those in the
 * repository. Pixels are not compared: they differ with the fonts of a machine.
 */

const ROOT = path.resolve(import.meta.dirname, '../..');
const PICTURES = path.join(ROOT, 'docs/pictures');
const RENEW = 'Renew the pictures with: npm run screenshots';

describe.skipIf(skipsBrowser)('the pictures of the pages', () => {
  let drawn: Awaited<ReturnType<typeof makeTemporaryDirectory>>;

  beforeAll(async () => {
    drawn = await makeTemporaryDirectory();
    const script = path.join(ROOT, 'scripts/docs/screenshots.ts');
    const env = { ...process.env, SCREENSHOTS_CHROMIUM: CHROMIUM };
    await promisify(execFile)(process.execPath, [script, drawn.path], { env });
  }, 170_000);
  afterAll(() => drawn?.remove());

  it('are those that the script draws, each with its texts', async () => {
    const names = (await readdir(PICTURES)).sort();
    expect(names, RENEW).toEqual((await readdir(drawn.path)).sort());
    expect(names.filter((name) => name.endsWith('.png')).length).toBeGreaterThan(0);
  });

  it('have the sizes and the texts of the screens', async () => {
    for (const name of await readdir(PICTURES)) {
      const read = async (directory: string): Promise<string> =>
        contentOf(name, await readFile(path.join(directory, name)));
      expect(await read(PICTURES), `docs/pictures/${name} is stale. ${RENEW}`).toBe(
        await read(drawn.path),
      );
    }
  });
});

/** The size of a picture, or the texts of a screen. */
function contentOf(name: string, bytes: Buffer): string {
  if (!name.endsWith('.png')) return bytes.toString();
  // The header of a PNG has its width and height: https://www.w3.org/TR/png-3/#11IHDR
  return `${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)}`;
}
