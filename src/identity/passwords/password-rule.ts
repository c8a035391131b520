import { AppError } from '../../errors.ts';

/**
 * Which passwords are accepted, after NIST SP 800-63B, section 3.1.1.2: those that are long enough, and are
 * neither common nor the mail address. There are no rules on the kinds of characters.
 */

export const PASSWORD_LENGTH_MIN = 8;
/** In bytes of UTF-8. Hashing a longer one takes longer, and does not make it safer. */
const PASSWORD_BYTES_MAX = 256;

/**
 * @param email normalized
 * @param pointer the field of the request, for the error; a JSON Pointer
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
    return `A password must have at least ${PASSWORD_LENGTH_MIN} characters and at most ${PASSWORD_BYTES_MAX} bytes.`;
  }
  const guess = comparable(password);
  if ([email, email.slice(0, email.lastIndexOf('@'))].map(comparable).includes(guess)) {
    return 'The password is the mail address, which attackers try first. Choose another.';
  }
  if ((await loadCommon()).has(guess)) {
    return 'This password is one of the most common ones, which attackers try first. Choose another.';
  }
  return undefined;
}

/** Attackers try every case and width of the letters. */
function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

let common: Promise<ReadonlySet<string>> | undefined;

/** About 18,000 common passwords that are long enough for the rule. They are loaded when the first password is set. */
function loadCommon(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) =>
      new Set(dictionary['passwords-common'].filter(({ length }) => length >= PASSWORD_LENGTH_MIN)),
  );
  return common;
}
