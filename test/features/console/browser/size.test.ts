import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { buildBrowserFiles } from '../../../../src/web/build-browser-files.ts';

const SCRIPTS_BYTES_MAX = 120_000;

describe('the scripts of the console', () => {
  it('are small, and load charts only when a screen has some', async () => {
    const { files, named } = await buildBrowserFiles();
    const scripts = files.filter(({ name }) => /^assets\/.*\.js$/.test(name));
    const sizes = scripts.map(({ name, bytes }) => [name, gzipSync(bytes).length] as const);
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
    console.log(`Scripts of the console: ${total} bytes with gzip.`);
    expect(total).toBeLessThan(SCRIPTS_BYTES_MAX);
    const entry = scripts.find(({ name }) => name === named['console.js']);
    const text = new TextDecoder().decode(entry?.bytes);
    expect(text).toMatch(/import\("\.\/uPlot/);
    expect(text).not.toContain('u-cursor-pt');
  });
});
