import { AppError } from '../../errors.ts';

/**
 * What a password must be like, after NIST SP 800-63B, section 3.1.1.2: long enough, neither common nor
 * the address itself, and no rules on what it is composed of.
 */

export const PASSWORD_LENGTH_MIN = 8;
/** Bytes. Longer ones would only make the hash dearer. */
export const PASSWORD_BYTES_MAX = 256;

/**
 * @param email normalized
 * @param pointer which field of the request is wrong
 * @throws AppError `weak_password`
 */
export async function checkPassword(
  password: string,
  email: string,
  pointer = '/password',
): Promise<void> {
  const why = await whyWeak(password, email);
  if (why === undefined) return;
  throw new AppError('weak_password', why, { issues: [{ pointer, detail: why }] });
}

async function whyWeak(password: string, email: string): Promise<string | undefined> {
  const isLongEnough = [...password].length >= PASSWORD_LENGTH_MIN;
  if (!isLongEnough || Buffer.byteLength(password) > PASSWORD_BYTES_MAX) {
    return `A password has at least ${PASSWORD_LENGTH_MIN} characters, and at most ${PASSWORD_BYTES_MAX} bytes.`;
  }
  const guess = comparable(password);
  if ([email, email.slice(0, email.lastIndexOf('@'))].map(comparable).includes(guess)) {
    return 'The password is the mail address, which everybody tries first. Choose another.';
  }
  if ((await loadCommon()).has(guess)) {
    return 'This password is among the most common ones, which everybody tries first. Choose another.';
  }
  return undefined;
}

/** Guesses differ in case and in the width of letters as well. */
function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

let common: Promise<ReadonlySet<string>> | undefined;

/** Some 18,000 that are long enough: read once, by the first who sets a password. */
function loadCommon(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) =>
      new Set(dictionary['passwords-common'].filter(({ length }) => length >= PASSWORD_LENGTH_MIN)),
  );
  return common;
}
