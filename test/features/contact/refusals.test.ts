import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestService, type TestService } from '../../support/service.ts';

const CONTACT = '/api/v1/contact';
/** Words of zod's own messages. */
const LIBRARY = /invalid input|expected|received|too small|too big|>=|<=|undefined|NaN/i;

describe('the refusal of a message', () => {
  let service: TestService;
  beforeAll(async () => {
    const env = { CAPTCHA_PROVIDER: 'none', CONTACT_PER_ADDRESS: '1000' };
    service = await createTestService({ env });
  });
  afterAll(() => service.close());

  const post = (payload: object, headers = {}) =>
    service.app.http.inject({ method: 'POST', url: CONTACT, payload, headers });

  it('names every wrong field', async () => {
    const answer = await post({
      name: 'Ada',
      email: 'ada',
      subject: ' ',
      message: 'x'.repeat(5_001),
    });
    const { detail, code, errors } = answer.json();
    expect([answer.statusCode, code, detail]).toEqual([
      400,
      'invalid_request',
      'The body is not valid: email must be a mail address; subject must not be empty; message must have at most 5000 characters.',
    ]);
    const found = errors.map((error: Record<string, string>) => [error.pointer, error.detail]);
    expect(Object.fromEntries(found)).toEqual({
      '/email': 'must be a mail address',
      '/subject': 'must not be empty',
      '/message': 'must have at most 5000 characters',
    });
    expect(answer.body).not.toMatch(LIBRARY);
  });

  it('covers headers too', async () => {
    expect((await post({}, { 'idempotency-key': 'a b' })).json().detail).toMatch(
      /^The (headers are|body is) not valid: .*(idempotency-key must be 1 to 128|name is required)/,
    );
  });

  it('is given for a name with invisible characters, unless its spelling needs them', async () => {
    const send = (name: string) =>
      post({ email: 'ada@example.com', subject: 'Hello', message: 'Hello.', name });
    for (const name of ['admin\u202enimda', 'Ada\u200b', 'a\u2066b\u2069', 'a\u200db']) {
      const answer = await send(name);
      const { code, errors } = answer.json();
      expect([answer.statusCode, code], name).toEqual([400, 'invalid_request']);
      expect(errors).toEqual([{ pointer: '/name', detail: expect.stringContaining('invisible') }]);
    }
    expect((await send('علی\u200cرضا 👩\u200d💻')).statusCode).toBeLessThan(300);
  });
});
