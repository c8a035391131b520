import { readVersion } from '../../../src/core/system.ts';

/**
 * The parts of answers that are random by design: secrets, and ids that are made from real randomness. An example has a
 * text of the same form in their place, so that it is the same in each run, and no scanner takes it for a leaked secret.
 */
const MEMBERS: Readonly<Record<string, string>> = {
  request_id: '3f0c1d52-8f3a-4c52-9c1e-5b7f4a1d2e60',
  access_token: 'HEADER.CLAIMS.SIGNATURE',
  refresh_token: 'slr1.SESSION.SIGNATURE',
  key: 'slk_ACCOUNT_KEY_SECRET',
};

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/(?<=\?token=)[\w.-]+/g, 'HEADER.CLAIMS.SIGNATURE'],
  [/(?<=\/files\/public\/|&signature=)[\w-]{43}/g, 'SIGNATURE'],
  // The version of Slipway, which states it to operators: the examples stay as they are at its next release.
  [new RegExp(`^${readVersion().replaceAll('.', '\\.')}$`), '0.1.0'],
  // The id of a developer key.
  [/^[0-9a-f]{16}$/g, '0123456789abcdef'],
];

export function steady(value: unknown): unknown {
  if (typeof value === 'string') {
    return PATTERNS.reduce((text, [pattern, to]) => text.replace(pattern, to), value);
  }
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' ? (MEMBERS[name] ?? steady(member)) : steady(member),
    ]),
  );
}
