import { describe, expect, it } from 'vitest';
import { loadConfig, SETTING_GROUPS } from '../../../src/config.ts';
import { type FieldIssue, isAppError } from '../../../src/core/errors.ts';

/** What settings say about themselves: in the reference, and when a value is wrong. */

const settings = SETTING_GROUPS.flatMap((group) => group.settings);

/** Only the problems of the settings that are given: a setting alone may need others. */
function issuesOf(env: Readonly<Record<string, string>>): readonly FieldIssue[] {
  try {
    loadConfig(env, 'command');
    return [];
  } catch (error) {
    if (!isAppError(error, 'invalid_configuration')) throw error;
    return error.issues.filter(({ pointer }) => pointer.slice(1) in env);
  }
}

describe('a setting', () => {
  it.each(settings)('$name has a description and states its values', ({ about, accepts }) => {
    expect(about).toMatch(/^[`A-Z].*[^.]$/);
    expect(accepts).not.toBe('');
  });

  const isWhole = (example: string) => example !== '' && !example.includes('…');
  it.each(settings.filter(({ example }) => isWhole(example)))(
    '$name takes the example of the reference',
    ({ name, example }) => {
      expect(issuesOf({ [name]: example })).toEqual([]);
    },
  );

  it.each(settings)('$name refuses other texts in plain words', ({ name }) => {
    for (const text of ['nonsense \u0000', '-1', '{"a":', 'http:', ',,,']) {
      for (const { detail } of issuesOf({ [name]: text })) {
        expect(detail, text).toMatch(/^(must|has|lets|is|")/);
        expect(detail, text).not.toMatch(/invalid input|expected|received|zod|regex/i);
      }
    }
  });
});

describe('a message', () => {
  it.each([
    ['PORT', 'x', 'must be a port, 0 to 65535'],
    ['OBJECT_STORE', 'x', 'must be one of filesystem, s3'],
    ['COOKIE_MODE', 'x', 'must be true or false'],
    ['PUBLIC_GROUP_MIN', '0', 'must be a whole number, 1 to 999999'],
    [
      'CATALOG_POLL_INTERVAL',
      '2h',
      'must be a duration from 1s to 1h: a number and its unit, s, m, h or d',
    ],
    ['SESSION_SECRET', 'x', 'must be text of at least 32 characters'],
    ['S3_ENDPOINT', 'minio:9000', 'must be an http:// or https:// address'],
    [
      'S3_ENDPOINT',
      'https://x.example?a',
      'must be an address without a query (?…) and without a fragment (#…)',
    ],
  ])('of %s=%s says what the value must be', (name, text, detail) => {
    expect(issuesOf({ [name]: text })).toEqual([{ pointer: `/${name}`, detail }]);
  });
});
