import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPassword } from '../../../../src/features/accounts/passwords/password-rule.ts';

const EMAIL = 'ada.lovelace@example.org';
const check = (password: string) => checkPassword(password, EMAIL);

describe('a password', () => {
  it.each([
    ['short', '1234567'],
    ['short in characters, not in bytes', '🔑🔑🔑🔑🔑🔑🔑'],
    ['huge', 'correct horse '.repeat(19)],
    ['common', 'password'],
    ['common', 'password123'],
    ['common', 'qwertyuiop'],
    ['common in other letters', 'PassWord1'],
    ['common in wide letters', 'ｐａｓｓｗｏｒｄ１'],
    ['common between spaces', ' sunshine1 '],
    ['common with an invisible character', 'pass\u200bword'],
    ['common with an accent', 'pässword'],
    ['common with a separator', 'p-a-s-s-w-o-r-d'],
    ['the address', EMAIL],
    ['the address in other letters', 'Ada.Lovelace@Example.org'],
    ['the address without its domain', 'ada.lovelace'],
    ['the name of the service and a year', 'Slipway-2026'],
    ['a name in the address and a year', 'Lovelace_1843!'],
  ])('that is %s (%s) is refused', async (_, password) => {
    await expect(check(password)).rejects.toMatchObject({
      code: 'weak_password',
      issues: [{ pointer: '/password', detail: expect.stringMatching(/\.$/) }],
    });
  });

  it.each([
    'correct horse battery staple',
    'xkPq-27-',
    '}1^~a$(|2',
    '😀🔑🎈🐎🔋📎🌵🥨',
    'пароль из шести слов',
    'ada.lovelace was here first',
    'correct horse '.repeat(18).slice(0, 256),
    'tr0ub4dor&3',
    'हिन्दी में चार शब्द',
    '8f3k2m9q',
  ])('%s is accepted', async (password) => {
    await check(password);
  });

  const REPEATED = [
    'a',
    'ab',
    'abc',
    'aA',
    'ａa',
    'a\u0301a',
    'a\u200b',
    '🔑',
    'а\u0430a',
    '1234',
    'ab12',
    '!',
    ' a',
    // Another spelling of it has 18 characters.
    'ﷺ',
  ];
  it.each(REPEATED)('that repeats %j is refused, at any length', async (unit) => {
    for (const length of [8, 9, 13, 64]) {
      const password = unit.repeat(length).slice(0, Math.max(length, 8 * unit.length));
      await expect(check(password)).rejects.toMatchObject({ code: 'weak_password' });
    }
  });

  it.each([
    ...[
      'aaaaaaaa',
      'aaaaaaa1',
      '1aaaaaaa',
      'aaaabbbb',
      'abababa1',
      'aAaAaAaA',
      'áàâäãåaa',
      'a\u0430a\u0430\u0430aa\u0430a',
    ],
    ...[
      '12345678',
      '87654321',
      '23456789',
      'qwertzuiop',
      'йцукенгшщз',
      '13579135',
      'abcdefgh',
      'hgfedcba',
      'ABCDEFGH',
      'acegikmo',
      'абвгдежз',
    ],
    ...[
      'qwertyui',
      'asdfghjkl',
      'lkjhgfds',
      '１２３４５６７８',
      'abcd1234',
      'abcde12345',
      '11112222',
      '1234512345',
    ],
    ...['1.2.3.4.5.6', '1 2 3 4 5 6 7 8', '!@#$%^&*', ')(*&^%$#'],
    ...['        ', 'a a a a a', '........', 'x'.repeat(256)],
  ])('%j is refused as a repetition or a sequence, with what to do', async (password) => {
    await expect(check(password)).rejects.toThrow(
      /^(The password is a repetition or a sequence, .* Choose several unrelated words|This password is one of the most common ones, .* Choose another)\.$/,
    );
  });

  it.each([
    ...[
      'ada.lovelace1',
      'lovelace2026',
      '12345lovelace',
      'example.org',
      'EXAMPLE.org!!',
      'slipway1',
      'Slipway2026',
    ],
    ...[
      'adalovelace2026',
      'slipwayslipway',
      'ada.lovelaceada.lovelace',
      'ｓlipway!!',
      'lovelace.ada',
    ],
  ])('%j is refused as little more than words of the context', async (password) => {
    await expect(check(password)).rejects.toMatchObject({ code: 'weak_password' });
  });

  it('of random characters is accepted, also when two or three of them go on by chance', async () => {
    const words = fc.string({
      unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789'),
      minLength: 14,
      maxLength: 14,
    });
    const random = words.filter((word) => new Set(word).size > 9);
    await fc.assert(fc.asyncProperty(random, check), { numRuns: 200 });
  });
});
