import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../../support/service.ts';
import {
  ACCOUNT,
  AUTH,
  ask,
  KEYS,
  newEmail,
  PASSWORD,
  type Person,
  signIn,
  UNLIMITED,
} from './account-support.ts';

/** Every place where a name is taken; what a name is, is tested with `isDisplayName`. */
describe('a name with invisible characters', () => {
  let service: TestService;
  let person: Person;
  beforeAll(async () => {
    const env = { ...UNLIMITED, CAPTCHA_PROVIDER: 'none', TIERS: '{"free":["developer_keys"]}' };
    service = await createTestService({ env });
    person = await signIn(service);
  });
  afterAll(() => service.close());

  const device = (name: string) => ({ id: 'device-1', name });
  const login = () => ({ email: person.email, password: PASSWORD, platform: 'linux' });
  const scopes = [{ application: 'desktop', access: 'read' }];
  const places: readonly (readonly [string, string, string, (name: string) => object])[] = [
    [
      'registering',
      `POST ${AUTH}/register`,
      '/name',
      (name) => ({ email: newEmail(), password: PASSWORD, name }),
    ],
    [
      'a device',
      `POST ${AUTH}/login`,
      '/device/name',
      (name) => ({ ...login(), device: device(name) }),
    ],
    ['an account', `PATCH ${ACCOUNT}`, '/name', (name) => ({ name })],
    ['a developer key', `POST ${KEYS}`, '/name', (name) => ({ name, scopes })],
  ];

  it.each(places)('%s: is refused, unless its spelling needs them', async (...place) => {
    const [, operation, pointer, body] = place;
    const [method = '', url = ''] = operation.split(' ');
    const send = (name: string) =>
      ask(service, method, url, { bearer: person.access, body: body(name) });
    for (const name of ['admin\u202enimda', 'Ada\u200b', 'a\u2066b\u2069', 'a\u200db']) {
      const answer = await send(name);
      expect([answer.status, answer.body.code], name).toEqual([400, 'invalid_request']);
      expect(answer.body.errors).toEqual([
        { pointer, detail: expect.stringContaining('invisible') },
      ]);
    }
    expect((await send('علی\u200cرضا 👩\u200d💻')).status).toBeLessThan(300);
  });
});
