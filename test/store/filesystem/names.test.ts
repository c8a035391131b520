import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isPlain, parsePart, partsOf, pathOf } from '../../../src/store/filesystem/names.ts';
import { isKey } from '../../../src/store/key.ts';
import { character } from '../../support/character.ts';
import { rounds } from '../../support/rounds.ts';

const segments = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
    fc.string({ unit: character, minLength: 1, maxLength: 60 }),
    fc.stringMatching(/^[ -~]{1,255}$/),
    fc.stringMatching(/^(con|CON|aux|nul|com[0-9]|lpt1|\.slipway-tmp-)[a-zA-Z0-9. ~%!]{0,240}$/),
    fc.stringMatching(/^[A-Z\u00e9.]{120,200}$/),
  )
  .filter(isKey)
  .filter((segment) => !segment.includes('/'));

/** Names that Windows allows (Naming Files, Paths, and Namespaces) and that no file system folds. */
const SAFE = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[a-z0-9._!%-]*[a-z0-9_!%-]$/;

it('escapes every segment to names that every volume can store', () => {
  fc.assert(
    fc.property(segments, (segment) => {
      for (const part of partsOf(segment)) {
        expect(part).toMatch(SAFE);
        expect(part.length).toBeLessThanOrEqual(143);
        expect(part.startsWith('.slipway-tmp-')).toBe(false);
      }
    }),
    { numRuns: rounds(200, 3_000) },
  );
});

it('parses its own names, so no two segments share a name', () => {
  fc.assert(
    fc.property(segments, (segment) => {
      const parts = partsOf(segment).map(parsePart);
      expect(parts.map(({ text }) => text).join('')).toBe(segment);
      expect(parts.map(({ isContinued }) => isContinued)).toEqual(
        parts.map((_, index) => index < parts.length - 1),
      );
    }),
    { numRuns: rounds(200, 3_000) },
  );
});

it.each([
  [
    'apps/desktop/releases/2.0.0-RC.1/manifest/1.json',
    'apps/desktop/releases/2.0.0-!r!c.1/manifest/1.json',
  ],
  ['My App Setup 1.2.3.exe', '!my%20!app%20!setup%201.2.3.exe'],
  ['con.txt', '%63on.txt'],
  ['name.', 'name%2e'],
  ['\u00e9', '%c3%a9'],
])('the key %s is the file %s', (key, file) => {
  expect(pathOf('/data', key)).toBe(join('/data', file));
});

it('splits a segment that is too long for one name into directories', () => {
  const path = pathOf('/data', 'A'.repeat(100));
  expect(dirname(path)).toBe(join('/data', `${'!a'.repeat(64)}%`));
});

it('knows the segments that are file names without escapes or splits', () => {
  fc.assert(
    fc.property(fc.oneof(segments, fc.stringMatching(/^[a-z0-9._-]{1,130}$/)), (segment) => {
      if (isPlain(segment)) expect(partsOf(segment)).toEqual([segment]);
      else expect(partsOf(segment)).not.toEqual([segment]);
    }),
    { numRuns: rounds(200, 3_000) },
  );
});
