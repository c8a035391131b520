import { describe, expect, it } from 'vitest';
import {
  artifactKey,
  artifactObject,
  hintKey,
  manifestKey,
} from '../../../src/catalog/documents/keys.ts';
import { accountKey } from '../../../src/features/accounts/keys.ts';
import { COMMAND_FACTS as FACTS } from '../../../src/features/command-facts.ts';
import type { CopiedObject } from '../../../src/features/copy/copy-plan.ts';
import { createKeyReader } from '../../../src/features/copy/key-reader.ts';
import { isUnsure } from '../../../src/features/copy/unsure-pairs.ts';

const { factsOf } = createKeyReader(FACTS.keys);

const md5 = (digit: string) => `"${digit.repeat(32)}"`;
const FILE_TAG = '"1-2-3"';
const at = (minutes: number) => new Date(minutes * 60_000);
/** The time at which the target stored the newest revision of `desktop`. */
const PROVEN_AT = 30;

function pair(key: string, source: Partial<CopiedObject>, target: Partial<CopiedObject> = {}) {
  const facts = factsOf(key);
  if (facts === undefined || facts === 'passing') throw new Error(`${key} has no facts.`);
  const object = { key, size: 1, etag: '"x"', lastModified: at(0), ...facts };
  return { source: { ...object, ...source }, target: { ...object, ...target } };
}

const proof = (tags: boolean) => ({
  tags,
  provenAt: new Map([['desktop', at(PROVEN_AT).getTime()]]),
});
const account = accountKey('a', 1);
const artifact = artifactKey('desktop', artifactObject('a'.repeat(64), 'App.exe'));
const manifest = manifestKey('desktop', '1.0.0', 1);

describe('whether a pair must be read', () => {
  it.each([
    ['another size', pair(artifact, { size: 2 }), true, true],
    [
      'equal tags',
      pair(account, { etag: md5('a'), lastModified: at(99) }, { etag: md5('a') }),
      true,
      false,
    ],
    ['different tags', pair(artifact, { etag: md5('a') }, { etag: md5('b') }), true, true],
    [
      'different tags that cannot be compared',
      pair(artifact, { etag: md5('a') }, { etag: md5('b') }),
      false,
      false,
    ],
    ['a file in a directory', pair(artifact, { etag: FILE_TAG }, { etag: md5('b') }), true, false],
    [
      'a file in parts',
      pair(artifact, { etag: `"${'a'.repeat(32)}-2"` }, { etag: md5('b') }),
      true,
      false,
    ],
    [
      'an account that is older than its copy',
      pair(account, { lastModified: at(0) }, { lastModified: at(60) }),
      true,
      false,
    ],
    [
      'an account that is newer than its copy',
      pair(account, { lastModified: at(60) }, { lastModified: at(0) }),
      true,
      true,
    ],
    ['a manifest before the proven revision', pair(manifest, {}), true, false],
    [
      'a manifest after it, from an interrupted copy',
      pair(manifest, {}, { lastModified: at(PROVEN_AT + 1) }),
      true,
      true,
    ],
    ['a hint after it', pair(hintKey(1), {}, { lastModified: at(PROVEN_AT + 1) }), true, true],
    ['a manifest without a proof', pair(manifestKey('editor', '1.0.0', 1), {}), true, true],
  ])('%s', (_name, given, tags, expected) => {
    expect(isUnsure(given, proof(tags))).toBe(expected);
  });

  it('when nothing proves the store: every document with other tags, and no file', () => {
    const nothing = { tags: true, provenAt: new Map<string, number>() };
    const etag = md5('a');
    for (const key of [manifest, account, hintKey(1), 'applications/1.json']) {
      expect(isUnsure(pair(key, {}, { lastModified: at(99) }), nothing), key).toBe(true);
      expect(isUnsure(pair(key, { etag }, { etag }), nothing), key).toBe(false);
    }
    expect(isUnsure(pair(artifact, {}), nothing)).toBe(false);
  });
});
