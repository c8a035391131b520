import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  packDocument,
  packRevision,
  unpackDocument,
  unpackRevision,
} from '../../../src/catalog/documents/packed-document.ts';

const documents = fc.oneof(
  fc.uint8Array(),
  fc.json().map((text) => Buffer.from(text)),
);

it('a packed document is the same after it is unpacked', async () => {
  await fc.assert(
    fc.asyncProperty(documents, async (document) => {
      const bytes = Buffer.from(document);
      expect(unpackDocument(packDocument(bytes))).toEqual(bytes);
      expect(await unpackRevision(await packRevision(bytes))).toEqual(bytes);
    }),
  );
});

it('a large revision is the same after packing', async () => {
  const revision = Buffer.from(
    JSON.stringify(Array.from({ length: 50_000 }, (_, i) => `1.0.${i}`)),
  );
  expect((await unpackRevision(await packRevision(revision))).equals(revision)).toBe(true);
});

it('a document that an earlier version saved, without the dictionary, is readable', () => {
  fc.assert(
    fc.property(documents, (document) => {
      expect(unpackDocument(deflateRawSync(document))).toEqual(Buffer.from(document));
    }),
  );
});

it('a manifest shrinks to less than a third', () => {
  const hash = (of: string, digits: number): string => of.repeat(digits);
  const artifact = (os: string, of: string) =>
    `{"arch":"x64","companions":[],"filename":"App-${os}.zip","format":"zip","minimum_os_version":null,"object":"artifacts/${hash(of, 64)}/App-${os}.zip","os":"${os}","sha256":"${hash(of, 64)}","sha512":"${hash(of, 128)}","signatures":[],"size":123456}`;
  const text = `{"signed":{"application":"desktop","artifacts":[${artifact('windows', 'a')},${artifact('macos', 'b')}],"at":"2026-11-01T12:00:00.000Z","by":"ci","catalog_revision":12,"change_id":"2c28d957-4495-466a-9f76-83fea1dc8913","mandatory_for":null,"notes":{"und":"Fixes."},"number":1,"provenance":{"build_url":null,"commit":null},"released_at":"2026-11-01T12:00:00.000Z","requires":null,"schema_version":1,"skipped":[],"type":"release_manifest","version":"1.4.0"},"digest":"${hash('c', 64)}","signatures":[]}\n`;
  expect(packDocument(Buffer.from(text)).length).toBeLessThan(text.length / 3);
});
