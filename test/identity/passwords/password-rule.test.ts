import { describe, expect, it } from 'vitest';
import { checkPassword } from '../../../src/identity/passwords/password-rule.ts';

const EMAIL = 'ada.lovelace@example.org';
const check = (password: string) => checkPassword(password, EMAIL);

describe('a password', () => {
  it.each([
    ['short', '1234567'],
    ['short in characters, not in bytes', '🔑🔑🔑🔑🔑🔑🔑'],
    ['huge', 'x'.repeat(257)],
    ['common', 'password'],
    ['common', 'password123'],
    ['common', 'qwertyuiop'],
    ['common in other letters', 'PassWord1'],
    ['common in wide letters', 'ｐａｓｓｗｏｒｄ１'],
    ['common between spaces', ' sunshine1 '],
    ['the address', EMAIL],
    ['the address in other letters', 'Ada.Lovelace@Example.org'],
    ['the address without its domain', 'ada.lovelace'],
  ])('that is %s (%s) is refused', async (_, password) => {
    await expect(check(password)).rejects.toMatchObject({
      code: 'weak_password',
      issues: [{ pointer: '/password', detail: expect.stringMatching(/\.$/) }],
    });
  });

  it.each([
    'correct horse battery staple',
    'xkPq-27-',
    '😀🔑🎈🐎🔋📎🌵🥨',
    'пароль из шести слов',
    'ada.lovelace was here first',
    'x'.repeat(256),
  ])('%s is accepted', async (password) => {
    await check(password);
  });
});
