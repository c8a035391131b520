import { AppError } from '../../../core/errors.ts';

/**
 * Refuses short passwords, and the passwords that attackers try first (NIST SP 800-63B, section 3.1.1.2): common
 * passwords, repetitions and sequences of characters, and words of the context, such as the mail address. There are no
 * rules on the kinds of characters.
 */

export const PASSWORD_LENGTH_MIN = 8;
/**
 * The maximum length of a password, in bytes of UTF-8. Hashing a longer password takes longer and does not make it
 * safer.
 */
const PASSWORD_BYTES_MAX = 256;

/**
 * @param email the normalized address
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
  if ([email, localPartOf(email)].map(comparable).includes(guess)) {
    return 'The password is the mail address, which attackers try first. Choose another.';
  }
  const common = await loadCommon();
  const bare = plain(guess);
  const joined = withoutSeparator(bare);
  if ([guess, bare, joined].some((form) => common.has(form) || common.has(repeatedUnit(form)))) {
    return 'This password is one of the most common ones, which attackers try first. Choose another.';
  }
  // Also checks the text as the person typed it: one character, such as an Arabic ligature, can stand for many
  // characters.
  if ([password, bare, joined].some(isPredictable)) {
    return 'The password is a repetition or a sequence, such as aaaaaaaa or 12345678, which attackers try first. Choose several unrelated words.';
  }
  const left = withoutContext(bare, email);
  // A separator between a name and a year does not make a password safer: attackers try all separators.
  if (left !== bare && isPredictable(withoutSymbols(left))) {
    return 'The password is little more than the mail address or the name of this service, which attackers try first. Choose several unrelated words.';
  }
  return undefined;
}

function localPartOf(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}

/** Removes accents and invisible characters, which could hide a repetition. */
function plain(guess: string): string {
  return guess.normalize('NFKD').replace(/[\p{M}\p{Cf}]/gu, '');
}

function withoutSymbols(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Removes the symbols from a text whose symbols are all the same: `1-2-3-4-5-6-7-8` becomes `12345678`. Any other text
 * stays.
 */
function withoutSeparator(text: string): string {
  const symbols = new Set(text.replace(/[\p{L}\p{N}]/gu, ''));
  return symbols.size === 1 ? withoutSymbols(text) : text;
}

/** The unit that a text repeats: `ab` for `abababab`; the whole text when it repeats nothing. */
function repeatedUnit(text: string): string {
  // The search finds the text in the doubled text again, one unit after the start.
  const unit = text.slice(0, `${text}${text}`.indexOf(text, 1));
  const isEven = text.length % unit.length === 0;
  return isEven ? unit : text;
}

/** A surprise is a character that does not follow from the characters before it. */
const SURPRISES_MIN = 5;
const DIFFERENT_MIN = 4;
/**
 * The rows of common keyboards. The spaces separate the rows, so that no sequence continues from the end of one row to
 * the start of the next.
 */
const KEYBOARDS = [
  "`1234567890-=  qwertyuiop[]  asdfghjkl;'  zxcvbnm,./  ~!@#$%^&*()_+",
  'qwertzuiop  yxcvbnm',
  'azertyuiop  qsdfghjklm  wxcvbn',
  'йцукенгшщзхъ  фывапролджэ  ячсмитьбю',
];
const UNIT_LENGTH_MAX = 8;

/**
 * True for a text that is made of repetitions and sequences: `aaaaaaaa`, `abcabcab`, `12345678`, `aaaa1111`,
 * `qwertyui`. It counts the characters that continue no repetition and no sequence.
 */
function isPredictable(text: string): boolean {
  const characters = [...text];
  if (new Set(characters).size < DIFFERENT_MIN) return true;
  const isRepeated = (unit: number): boolean =>
    characters.every((character, at) => at < unit || character === characters[at - unit]);
  if ([1, 2, 3, 4].some(isRepeated)) return true;
  const surprises = characters.filter((_, at) => !isForeseen(characters, at));
  return surprises.length < SURPRISES_MIN;
}

function isForeseen(characters: readonly string[], at: number): boolean {
  const before = characters[at - 2];
  const last = characters[at - 1];
  const now = characters[at];
  if (last === undefined || now === undefined) return false;
  if (last === now) return true;
  if (before === undefined) return false;
  const isSequence = [codeOf, ...KEYS].some(
    (place) => place(now) - place(last) === place(last) - place(before),
  );
  if (isSequence) return true;
  for (let unit = 2; unit <= UNIT_LENGTH_MAX; unit++) {
    if (now === characters[at - unit] && last === characters[at - 1 - unit]) return true;
  }
  return false;
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/**
 * For each keyboard, the place of a character. NaN for a character that is on no row: such a character continues no
 * sequence.
 */
const KEYS = KEYBOARDS.map((keyboard) => (character: string): number => {
  const at = keyboard.indexOf(character);
  return at === -1 ? Number.NaN : at;
});

/** A shorter word may occur in any password by chance. */
const CONTEXT_LENGTH_MIN = 4;

/** Removes the mail address, its parts and the name of the service from a guess. */
function withoutContext(guess: string, email: string): string {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const local = localPartOf(email);
  const words = [
    email,
    local,
    withoutSymbols(local),
    domain,
    ...email.split(/[^\p{L}\p{N}]+/u),
    'slipway',
  ];
  return words
    .map((word) => plain(comparable(word)))
    .filter((word) => word.length >= CONTEXT_LENGTH_MIN)
    .sort((a, b) => b.length - a.length)
    .reduce((left, word) => left.replaceAll(word, ''), guess);
}

/** Removes the differences of case and width from a text, because attackers try all of them. */
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
