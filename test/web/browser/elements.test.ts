import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { buildBrowserFiles } from '../../../src/web/build-browser-files.ts';

/** A website loads these on each of its pages. */
const COMPRESSED_BYTES_MAX = 6_000;

describe('the elements for websites', () => {
  it('are small, complete in themselves, and keep strict policies', async () => {
    const { files } = await buildBrowserFiles();
    const elements = files.filter(({ name }) => name.startsWith('elements/'));
    expect(elements.map(({ name }) => name).sort()).toEqual([
      'elements/contact.js',
      'elements/download.js',
      'elements/sign-in.js',
      'elements/status.js',
    ]);
    for (const { name, bytes } of elements) {
      const text = Buffer.from(bytes).toString();
      const size = gzipSync(bytes, { level: 9 }).length;
      console.log(`${name}: ${bytes.length} bytes, ${size} compressed`);
      expect(size, name).toBeLessThan(COMPRESSED_BYTES_MAX);
      expect(text, name).not.toMatch(/^\s*(import|export)\b|\bimport\(/m);
      expect(text, name).not.toMatch(/innerHTML|outerHTML|insertAdjacent|\beval\b|new Function/);
    }
  });
});
