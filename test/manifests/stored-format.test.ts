import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  applicationsSequence,
  manifestSequence,
  revisionSequence,
} from '../../src/catalog/reading/sequences.ts';
import { renderSchemas } from '../../src/features/stored-documents.ts';

const MANIFESTS = path.join(import.meta.dirname, '../../manifests');

function readExample(name: string): Uint8Array {
  const text = readFileSync(path.join(MANIFESTS, 'examples', `${name}.jsonc`), 'utf8');
  return Buffer.from(text.replace(/^\s*\/\/.*$/gm, ''));
}

describe('manifests/', () => {
  it.each([...renderSchemas()])('%s is what the code generates (npm run schemas)', (file, text) => {
    expect(readFileSync(path.join(MANIFESTS, file), 'utf8')).toBe(text);
  });

  it('names every schema in its README, and has no other', () => {
    const readme = readFileSync(path.join(MANIFESTS, 'README.md'), 'utf8');
    const files = readdirSync(MANIFESTS).filter((file) => file.endsWith('.schema.json'));
    expect(files.sort()).toEqual([...renderSchemas().keys()].sort());
    expect(files.filter((file) => !readme.includes(`](${file})`))).toEqual([]);
  });

  it('has examples that the code reads, and that belong together', async () => {
    const manifests = manifestSequence('desktop', '1.4.0');
    const manifest = await manifests.parse(readExample('release-manifest'), 1);
    const revision = await revisionSequence('desktop').parse(readExample('catalog-revision'), 7);
    const offer = revision.signed.channels.stable?.offers[0];
    expect(offer?.manifest).toEqual({ number: 1, digest: manifest.digest });
    const list = await applicationsSequence.parse(readExample('applications'), 1);
    expect(list.signed.number).toBe(1);
    expect(readdirSync(path.join(MANIFESTS, 'examples'))).toHaveLength(3);
  });

  it('has an example that no other release can use', () => {
    const bytes = readExample('release-manifest');
    expect(() => manifestSequence('desktop', '1.4.1').parse(bytes, 1)).toThrow(
      /says version "1.4.0"/,
    );
  });
});
