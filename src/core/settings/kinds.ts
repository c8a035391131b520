import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from '../secret.ts';
import { defineKind, type Kind, refuseValue } from './setting.ts';

/** The kinds of values that settings have. */

const SECRET_LENGTH_MIN = 32;
const SECONDS_BY_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

export const text = defineKind('text', (value) => value);

export const port = defineKind('a port, 0 to 65535', (value) =>
  /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : undefined,
);

export const flag = defineKind('true or false', (value) => {
  if (value === 'true' || value === '1') return true;
  return value === 'false' || value === '0' ? false : undefined;
});

export const count = defineKind('a whole number, 1 to 999999', (value) =>
  /^\d{1,6}$/.test(value) && Number(value) > 0 ? Number(value) : undefined,
);

const AUTO = 'auto';
const WORKERS_MAX = 256;

export const workersCount = defineKind(
  `${AUTO}, or a whole number, 1 to ${WORKERS_MAX}`,
  (value) => {
    if (value === AUTO) return AUTO;
    const given = /^\d{1,3}$/.test(value) ? Number(value) : 0;
    return given >= 1 && given <= WORKERS_MAX ? given : undefined;
  },
);

export function oneOf<const Value extends string>(values: readonly Value[]): Kind<Value> {
  return defineKind(`one of ${values.join(', ')}`, (given) =>
    values.find((value) => value === given),
  );
}

/** A duration, in milliseconds. The bounds have the form of the settings: `1s`, `15m`, `4h`, `1d`. */
export function duration({ min = '1s', max }: { min?: string; max?: string } = {}): Kind<number> {
  const minMs = durationMs(min) ?? 0;
  const maxMs = (max === undefined ? undefined : durationMs(max)) ?? Number.POSITIVE_INFINITY;
  const bounds = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  return defineKind(`a duration ${bounds}: a number and its unit, s, m, h or d`, (value) => {
    const ms = durationMs(value);
    return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
  });
}

function durationMs(value: string): number | undefined {
  if (!/^\d{1,9}[smhd]$/.test(value)) return undefined;
  return Number(value.slice(0, -1)) * (SECONDS_BY_UNIT[value.slice(-1)] ?? 1) * 1000;
}

export const httpUrl = defineKind('an http:// or https:// address', parseHttpUrl);

/**
 * Returns the address without a trailing slash; undefined for text that is not an HTTP address.
 *
 * @throws AppError `invalid_configuration` for an address with a query or a fragment
 */
export function parseHttpUrl(value: string): string | undefined {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.search !== '' || url.hash !== '') {
    throw refuseValue('must be an address without a query (?…) and without a fragment (#…)');
  }
  return value.trim().replace(/\/+$/, '');
}

/** A secret with which Slipway signs. It must be hard to guess. */
export const signingSecret = defineKind(
  `text of at least ${SECRET_LENGTH_MIN} characters`,
  (value) => (value.length >= SECRET_LENGTH_MIN ? new Secret(value) : undefined),
);

/** A secret that another service issued. */
export const givenSecret = defineKind('the secret', (value) => new Secret(value));

export const bucketName = defineKind('a bucket name', (value) =>
  /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,254}$/.test(value) ? value : undefined,
);

export const names = defineKind('names, separated by commas or spaces', wordsOf);

/** Exact origins, as a browser sends them. */
export const origins = defineKind(
  'origins such as https://www.example.com, separated by commas or spaces',
  (value) => (wordsOf(value).every(isOrigin) ? wordsOf(value) : undefined),
);

function wordsOf(value: string): readonly string[] {
  return value.split(/[\s,]+/).filter((word) => word !== '');
}

function isOrigin(value: string): boolean {
  if (!URL.canParse(value) || value.includes('*')) return false;
  const { protocol, origin } = new URL(value);
  return /^https?:$/.test(protocol) && origin === value;
}

/** One plain address, because it becomes a mail header unchanged. */
export const mailAddress = defineKind('one mail address, such as hello@example.com', (value) =>
  z.email().safeParse(value).success ? value : undefined,
);

const PROXY_RANGES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

/** A value for Fastify's `trustProxy`. */
export const trustedProxies = defineKind(
  'true, false, or addresses such as 10.0.0.0/8,127.0.0.1',
  (value) => {
    if (value === 'true' || value === 'false') return value === 'true';
    return value.split(',').every(isProxy) ? value : undefined;
  },
);

function isProxy(part: string): boolean {
  const [address = '', bits, ...rest] = part.trim().split('/');
  const family = isIP(address);
  const isRange =
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  return PROXY_RANGES.includes(part.trim()) || (family > 0 && isRange && rest.length === 0);
}

/** Undefined for text that is not JSON. */
export function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
