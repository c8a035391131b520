import type { HeaderRecord } from '../../answers/answer.ts';

interface SecurityHeader {
  readonly value: string;
  /** True when the header also matters for an answer that is not a page, such as JSON. */
  readonly onData: boolean;
}

/** A test compares this table with the defaults of helmet, and names the reason for each difference. */
const TABLE: Readonly<Record<string, SecurityHeader>> = {
  'content-security-policy': {
    value: "default-src 'none';frame-ancestors 'none'",
    onData: true,
  },
  'cross-origin-opener-policy': { value: 'same-origin', onData: false },
  'cross-origin-resource-policy': { value: 'cross-origin', onData: true },
  'origin-agent-cluster': { value: '?1', onData: false },
  'referrer-policy': { value: 'no-referrer', onData: true },
  'strict-transport-security': {
    value: 'max-age=31536000; includeSubDomains',
    onData: true,
  },
  'x-content-type-options': { value: 'nosniff', onData: true },
  'x-dns-prefetch-control': { value: 'off', onData: false },
  'x-download-options': { value: 'noopen', onData: false },
  'x-frame-options': { value: 'SAMEORIGIN', onData: false },
  'x-permitted-cross-domain-policies': { value: 'none', onData: false },
  'x-xss-protection': { value: '0', onData: false },
};

/**
 * The security headers of every answer, by lower-case name. A page may replace a header: for example, it may send its
 * own content security policy.
 */
export const SECURITY_HEADERS = headersOf(Object.entries(TABLE));

/**
 * The security headers of data. Data has no other headers of the table: browsers ignore them on data, and millions of
 * answers would carry them.
 */
export const DATA_SECURITY_HEADERS = headersOf(
  Object.entries(TABLE).filter(([, { onData }]) => onData),
);

function headersOf(entries: readonly (readonly [string, SecurityHeader])[]): HeaderRecord {
  return Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
}
