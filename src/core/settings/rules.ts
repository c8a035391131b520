import type { FieldIssue } from '../errors.ts';

/** Rules that concern more than one setting. */

/** The settings that have a value, as text, so that the rules apply even when a value is wrong. */
export type GivenSettings = Readonly<Record<string, string | undefined>>;

export function isProduction(given: GivenSettings): boolean {
  return given.NODE_ENV === 'production';
}

/** One issue for each setting without a value. @param why completes "is required …" */
export function requireSettings(
  given: GivenSettings,
  names: readonly string[],
  why: string,
): FieldIssue[] {
  return names
    .filter((name) => given[name] === undefined)
    .map((name) => issueOf(name, `is required ${why}`));
}

export function issueOf(name: string, detail: string): FieldIssue {
  return { pointer: `/${name}`, detail };
}

/** True for an address that is plain HTTP to another machine. */
export function isPlainHttp(address: string | undefined): boolean {
  if (address === undefined || !URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}
