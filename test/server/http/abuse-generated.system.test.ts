import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/server/http/error-responses.ts';
import {
  ACCOUNT,
  ANALYTICS,
  AUTH,
  BILLING,
  COOKIE,
  COOKIE_ENV,
  JWKS,
  KEYS,
  PASSWORD,
  type Person,
  PORTAL,
  SESSIONS,
  SIGNED_IN_DOCUMENT,
  signIn,
  WEBSITE,
} from '../../features/accounts/routes/account-support.ts';
import { character } from '../../support/character.ts';
import { createHastyClock } from '../../support/clock.ts';
import { rounds } from '../../support/rounds.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { HOSTILE } from './hostile-texts.ts';
import { exchange, type RawAnswer } from './raw-client.ts';

/** As hostile-input.test.ts, for the routes about accounts: with tokens that are good, and with others. */

const REQUESTS = rounds(4_000, 100_000);
const SEED = 20_261_121;
const AT_ONCE = 8;

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
  fc.string({ unit: character, maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const route = fc.oneof(
  fc.constantFrom(
    ['POST', `${AUTH}/register`],
    ['POST', `${AUTH}/login`],
    ['POST', `${AUTH}/refresh`],
    ['POST', `${AUTH}/refresh`],
    ['POST', `${AUTH}/logout`],
    ['POST', `${AUTH}/request-reset`],
    ['POST', `${AUTH}/resend-verification`],
    ['GET', ACCOUNT],
    ['PATCH', ACCOUNT],
    ['PATCH', ACCOUNT],
    ['POST', `${ACCOUNT}/password`],
    ['GET', SESSIONS],
    ['GET', KEYS],
    ['POST', KEYS],
    ['GET', BILLING],
    ['POST', PORTAL],
    ['GET', SIGNED_IN_DOCUMENT],
    ['GET', JWKS],
  ),
  fc
    .tuple(fc.constantFrom(`${SESSIONS}/`, `${KEYS}/`, `${ACCOUNT}/`, `${AUTH}/`), text)
    .map(([start, id]) => ['DELETE', start + encodeURIComponent(id.replace(/\p{Cs}/gu, '?'))]),
  fc
    .tuple(fc.constantFrom('app', 'from', 'to', '__proto__', 'x[]'), text)
    .map(([name, value]) => [
      'GET',
      `${ANALYTICS}?${name}=${encodeURIComponent(value.replace(/\p{Cs}/gu, '?'))}`,
    ]),
  fc.tuple(
    fc.constantFrom('PUT', 'PATCH', 'HEAD', 'OPTIONS', 'POST', 'TRACE'),
    fc.constantFrom(`${AUTH}/login`, SESSIONS, KEYS, BILLING, PORTAL, '/api/v1/auth', '/api/v1/'),
  ),
);

const scalar = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.bigInt());
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('id', 'name', 'application', 'access', '__proto__'), scalar),
);
const field = fc.constantFrom(
  ...'email password platform device refresh_token scope name scopes expires_in_days captcha_token invitation new_password __proto__ x'.split(
    ' ',
  ),
);
const GOOD = [
  ['email', '"ada@example.com"'],
  ['password', JSON.stringify(PASSWORD)],
  ['platform', '"linux"'],
  ['device', '{"id":"device-1","name":"A laptop"}'],
  ['scope', '"local"'],
  ['name', '"Ada"'],
  ['scopes', '[{"application":"desktop","access":"read"}]'],
] as const;
const body = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.tuple(field, value), { maxLength: 3 }).map((entries) => {
      // The last of two members with one name counts.
      const members = [...GOOD, ...entries.map(([name, entry]) => [name, toJson(entry)] as const)];
      return `{${members.map(([name, json]) => `"${name}":${json}`).join(',')}}`;
    }),
  },
  fc.json(),
  text,
  fc.constantFrom('['.repeat(9_000), `"${'x'.repeat(70_000)}"`, '{}', '[]', ''),
);
const header = fc.oneof(
  fc.constantFrom(
    ['Origin', WEBSITE],
    ['Origin', 'null'],
    ['X-Slipway-Request', '1'],
    ['Cookie', `${COOKIE}=x; ${COOKIE}=y`],
    ['Cookie', `${COOKIE}=%zz; =; ;`],
    ['X-Forwarded-For', '::1, nonsense'],
  ),
  fc.tuple(
    fc.constantFrom('Authorization', 'Cookie', 'Origin', 'X-Slipway-Request', 'Host'),
    text.map((content) => content.replace(/[^\x20-\x7e\x80-\xff]/g, '')),
  ),
);
const request = fc.record({
  route,
  body,
  type: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain'),
  isSignedIn: fc.boolean(),
  address: fc.ipV4(),
  headers: fc.array(header, { maxLength: 3 }),
});
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

describe('hostile input to accounts', () => {
  let service: TestService;
  const people: Person[] = [];
  const log: string[] = [];
  const statuses = new Map<number, number>();

  beforeAll(async () => {
    const env = { ...COOKIE_ENV, TRUST_PROXY: 'loopback' };
    service = await createTestService({ store: 'directory', log, clock: createHastyClock(), env });
    for (let n = 0; n < 4; n++) people.push(await signIn(service));
  });
  afterAll(() => service.close());

  function bytesOf({
    route: [method, url],
    body: content,
    type,
    isSignedIn,
    headers,
    address,
  }: Request) {
    const payload = Buffer.from(method === 'GET' || method === 'HEAD' ? '' : content);
    // A session that was signed out can change nothing more: it is another one's.
    const person = people[url?.startsWith(`${AUTH}/logout`) ? 1 : 0];
    const lines = [
      `${method} ${url} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      // From all over: one address would soon be refused.
      `X-Forwarded-For: ${address}`,
      ...headers.map(([name, content]) => `${name}: ${content}`),
      ...(isSignedIn ? [`Authorization: Bearer ${person?.access}`] : []),
      ...(payload.length > 0 ? [`Content-Type: ${type}`, `Content-Length: ${payload.length}`] : []),
    ];
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), payload]);
  }

  it(`${REQUESTS} generated requests: no 5xx but documented ones, no crash, every 4xx a problem`, async () => {
    const port = Number(new URL(await service.listen()).port);
    const batches = fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE });
    await fc.assert(
      fc.asyncProperty(batches, async (batch) => {
        const answers = await Promise.all(batch.map((one) => exchange(port, bytesOf(one))));
        for (const [i, one] of batch.entries()) judge(answers[i], one);
      }),
      { seed: SEED, numRuns: REQUESTS / AT_ONCE, endOnFailure: true },
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
    for (const line of log) expect(() => JSON.parse(line)).not.toThrow();
    expect(log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    const shown = [...statuses].sort(([a], [b]) => a - b).map(([code, n]) => `${code}: ${n}`);
    console.log(`hostile input to accounts: ${REQUESTS} requests, ${shown.join(', ')}`);
    // The generator must reach the routes, not only the parser.
    for (const status of [200, 201, 202, 204, 401, 404]) {
      expect(statuses.get(status) ?? 0, String(status)).toBeGreaterThan(5);
    }
  }, 600_000);

  function judge(answer: RawAnswer | undefined, sent: Request): void {
    const what = JSON.stringify(sent).slice(0, 1_000);
    expect(answer, what).toBeDefined();
    const { status, headers, body: content } = answer as RawAnswer;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const [method, url = ''] = sent.route;
    // There is neither mail nor a portal here.
    const isNotSetUp = /request-reset|resend-verification|portal/.test(url);
    if (status >= 500) expect([status, isNotSetUp], what).toEqual([501, true]);
    if (status < 400 || method === 'HEAD') return;
    expect(headers['content-type'], what).toBe('application/problem+json; charset=utf-8');
    expect(problemSchema.parse(JSON.parse(content)), what).toMatchObject({ status });
    // Nothing of how and where it is stored.
    for (const { id } of people) expect(content, what).not.toContain(id);
    expect(content, what).not.toMatch(/object key|\.json|node_modules/);
  }
});

function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, one]) => `"${name}":${toJson(one)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
