import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  AUTH,
  ask,
  KEYS,
  logIn,
  newEmail,
  PASSWORD,
  type Person,
  register,
  SESSIONS,
  signIn,
  UNLIMITED,
} from '../../features/accounts/routes/account-support.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createTestService, type TestService } from '../../support/service.ts';

const DEVICE = { id: 'device-1', name: 'A laptop' };
const JSON_TYPE = { 'content-type': 'application/json' };

describe('hostile bodies', () => {
  let service: TestService;
  let person: Person;

  beforeAll(async () => {
    service = await createTestService({ env: UNLIMITED, clock: createHastyClock() });
    person = await signIn(service);
  });
  afterAll(() => service.close());

  const post = (path: string, body: unknown) =>
    ask(service, 'POST', path.startsWith('/') ? path : `${AUTH}/${path}`, {
      body,
      headers: JSON_TYPE,
      bearer: person.access,
    });
  const login = (change: object) => ({
    email: newEmail(),
    password: PASSWORD,
    platform: 'linux',
    device: DEVICE,
    ...change,
  });
  const pointersOf = ({ body }: { body: { errors: { pointer: string }[] } }) =>
    body.errors.map(({ pointer }) => pointer);

  it('are answered with the pointer of every invalid field', async () => {
    const cases = [
      ['register', {}, ['/email', '/password']],
      [
        'register',
        { email: 1, password: {}, name: {}, captcha_token: 7 },
        ['/email', '/password', '/name', '/captcha_token'],
      ],
      ['login', {}, ['/email', '/password', '/platform', '/device']],
      ['login', login({ device: {} }), ['/device/id', '/device/name']],
      ['login', login({ device: [] }), ['/device']],
      ['login', login({ device: { ...DEVICE, os_version: 11 } }), ['/device/os_version']],
      ['login', login({ platform: 'Web' }), ['/platform']],
      ['login', login({ platform: ['web'] }), ['/platform']],
      [
        'refresh',
        { refresh_token: ['x'], platform: 'linux', device: { id: null } },
        ['/refresh_token', '/device/id'],
      ],
      ['logout', {}, ['/scope']],
      ['logout', { scope: 'everything', refresh_token: 1 }, ['/scope', '/refresh_token']],
      ['request-reset', { email: ['a@example.com'] }, ['/email']],
      ['resend-verification', { email: { $ne: null } }, ['/email']],
      [KEYS, {}, ['/name', '/scopes']],
      [KEYS, { name: 'k', scopes: [] }, ['/scopes']],
      [
        KEYS,
        { name: 'k', scopes: [{ application: '../etc', access: 'write' }], expires_in_days: 0 },
        ['/scopes/0/application', '/scopes/0/access', '/expires_in_days'],
      ],
    ] as const;
    for (const [path, body, pointers] of cases) {
      const answer = await post(path, body);
      expect(answer.status, path).toBe(400);
      expect(pointersOf(answer as never), path).toEqual(pointers);
      // The answer must not repeat the input: it may be a secret, or a script for the browser of a visitor.
      expect(answer.text).not.toContain(PASSWORD);
    }
  });

  it.each([
    '',
    'nobody',
    '@example.com',
    'a@b',
    'a b@example.com',
    ' ada@example.com',
    'ada@example.com ',
    'ada@example.com\n',
    'ada@example.com\u0000',
    'ada@example.com\r\nBcc: all@example.com',
    'Ada <ada@example.com>',
    'ada@example.com,bob@example.com',
    'аda@example.com',
    'ada@exämple.com',
    'ＡＤＡ@example.com',
    'ada@example.com\u202e',
    'ada@[127.0.0.1]',
    '"ada lovelace"@example.com',
    `${'a'.repeat(250)}@example.com`,
    'a..b@example.com',
  ])('the address %j', async (email) => {
    for (const path of ['register', 'request-reset', 'resend-verification']) {
      const answer = await post(path, { email, password: PASSWORD });
      expect(answer.status, answer.text).toBe(400);
      expect(pointersOf(answer as never)).toEqual(['/email']);
    }
    expect(pointersOf((await post('login', login({ email }))) as never)).toEqual(['/email']);
  });

  it('passwords of ten thousand characters are refused at once, without a hash', async () => {
    const password = 'x'.repeat(10_000);
    for (const path of ['register', 'login']) {
      const answer = await post(path, login({ password }));
      expect(answer.status).toBe(400);
      expect(pointersOf(answer as never)).toEqual(['/password']);
      expect(answer.text).not.toContain('xxx');
    }
  });

  it('similar passwords are distinguished', async () => {
    const long = 'a window, a river and seven lamps '.repeat(8).slice(0, 256);
    // All 256 bytes count, NUL included: no byte is cut off.
    const cases = [
      ['eight\u0000one', 'eight\u0000two'],
      [long, long.slice(0, 255)],
      ['pässwörter', 'passworter'],
      [' eight spaces ', 'eight spaces'],
      ['🔑🚪🌧🐈🎻🧭🍋🪁', '🔒🚪🌧🐈🎻🧭🍋🪁'],
    ] as const;
    for (const [password, other] of cases) {
      const email = newEmail();
      expect((await post('register', { email, password })).status).toBe(202);
      expect((await logIn(service, { email, password: other })).status).toBe(401);
      expect((await logIn(service, { email, password })).status).toBe(200);
    }
    for (const weak of [`${long}y`, '🔑'.repeat(65), 'x'.repeat(7)]) {
      const { body } = await post('register', { email: newEmail(), password: weak });
      expect(body).toMatchObject({ code: 'weak_password', errors: [{ pointer: '/password' }] });
    }
  });

  it.each([
    ['NUL', 'a\u0000b'],
    ['a line break', 'a\nb'],
    ['an escape', 'a\u001b[31mb'],
    ['C1', 'a\u0085b'],
    ['a line separator', 'a\u2028b'],
    ['half a character', 'a\ud800b'],
    ['nothing', ''],
    ['nothing but spaces', '   '],
    ['too much', 'x'.repeat(101)],
  ])('names with %s', async (_what, name) => {
    const scopes = [{ application: 'desktop', access: 'read' }];
    const email = newEmail();
    const answers = [
      await post('register', { email, password: PASSWORD, name }),
      await post('login', login({ device: { ...DEVICE, name } })),
      await post('login', login({ device: { ...DEVICE, app_version: name } })),
      await post(KEYS, { name, scopes }),
      await ask(service, 'PATCH', ACCOUNT, { bearer: person.access, body: { name } }),
    ];
    for (const answer of answers) expect(answer.status, answer.text).toBe(400);
    expect(answers.flatMap((answer) => pointersOf(answer as never))).toEqual([
      '/name',
      '/device/name',
      '/device/app_version',
      '/name',
      '/name',
    ]);
  });

  it('keys such as __proto__ have no effect, at any depth', async () => {
    const good = JSON.stringify(login({})).slice(1);
    for (const [body, code] of [
      [`{"__proto__":{"platform":"web"},${good}`, 'malformed_json'],
      [`{"constructor":{"prototype":{"polluted":1}},${good}`, 'malformed_json'],
      [`{"x":{"__proto__":{"polluted":1}},${good}`, 'malformed_json'],
      [`{"\\u005f_proto__":{"polluted":1},${good}`, 'malformed_json'],
      ['{"__proto__":null}', 'malformed_json'],
      ['{"toString":1,"hasOwnProperty":1}', 'invalid_request'],
    ] as const) {
      const answer = await post('login', body);
      expect([answer.status, answer.body.code], body).toEqual([400, code]);
    }
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const body = { name, scopes: [{ application: 'desktop', access: name }] };
      expect(pointersOf((await post(KEYS, body)) as never)).toEqual(['/scopes/0/access']);
      const renamed = { bearer: person.access, body: { name } };
      expect((await ask(service, 'PATCH', ACCOUNT, renamed)).body.name).toBe(name);
      const { status } = await ask(service, 'DELETE', `${SESSIONS}/${name}`, renamed);
      expect(status).toBe(404);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('JSON a thousand levels deep, and malformed JSON, is refused', async () => {
    for (const [body, code] of [
      [`${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'invalid_request'],
      [`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, 'invalid_request'],
      ['['.repeat(60_000), 'malformed_json'],
      ['null', 'invalid_request'],
      ['"text"', 'invalid_request'],
      ['7', 'invalid_request'],
      ['\ufeff{"scope":"everything"}', 'invalid_request'],
      ['{}{}', 'malformed_json'],
      ['{"scope":"local",}', 'malformed_json'],
      ['NaN', 'malformed_json'],
    ] as const) {
      const answer = await post('logout', body);
      expect([answer.status, answer.body.code], body.slice(0, 60)).toEqual([400, code]);
    }
  });

  it('values that are too long are refused', async () => {
    for (const path of ['register', 'login', 'refresh', 'logout', 'request-reset', KEYS]) {
      const answer = await post(path, JSON.stringify({ email: 'x'.repeat(66_000) }));
      expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
    }
    const application = 'desktop';
    const scopes = Array.from({ length: 21 }, () => ({ application, access: 'read' }));
    expect(pointersOf((await post(KEYS, { name: 'k', scopes })) as never)).toEqual(['/scopes']);
    for (const expires_in_days of [0, -1, 367, 1.5, 1e9, '90', null]) {
      const body = { name: 'k', scopes: scopes.slice(0, 1), expires_in_days };
      expect(pointersOf((await post(KEYS, body)) as never)).toEqual(['/expires_in_days']);
    }
    const long = 'x'.repeat(1_025);
    const refresh = { refresh_token: long, platform: 'linux', device: DEVICE };
    expect(pointersOf((await post('refresh', refresh)) as never)).toEqual(['/refresh_token']);
    const device = { ...DEVICE, id: 'x'.repeat(129) };
    expect(pointersOf((await post('login', login({ device }))) as never)).toEqual(['/device/id']);
  });

  it('texts that make regular expressions backtrack are answered as fast as others', async () => {
    const texts = [
      `${'a.'.repeat(15_000)}@`,
      `a@${'a.'.repeat(15_000)}`,
      `a@${'a-'.repeat(15_000)}`,
      `${'a'.repeat(30_000)}@${'a'.repeat(30_000)}`,
      `${' '.repeat(60_000)}x`,
      `x${' '.repeat(60_000)}x`,
    ];
    // Processor time does not depend on the load of the machine.
    const costOf = async (text: string): Promise<number> => {
      const before = process.cpuUsage();
      await post('register', { email: text, password: PASSWORD, name: text });
      await ask(service, 'GET', ACCOUNT, { headers: { authorization: `Bearer ${text}` } });
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    await costOf('warm up');
    const usual = Math.max(await costOf('x'.repeat(60_000)), 5);
    // Backtracking would cost thousands of times as much.
    for (const text of texts) {
      expect(await costOf(text), text.slice(0, 20)).toBeLessThan(100 * usual);
    }
  });

  it('a new account has the default tier, also when the request names another one', async () => {
    const email = await register(service);
    const body = { email: newEmail(), password: PASSWORD, tier: 'pro', email_verified: true };
    await post('register', { ...body, email_verified: true, locked: null, id: 'x' });
    for (const address of [email, body.email]) {
      const { answer } = await signIn(service, { email: address });
      expect(answer.body.account).toMatchObject({ tier: 'free', email_verified: false });
    }
  });
});
