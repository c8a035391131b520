import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTH, UNLIMITED } from '../../features/accounts/routes/account-support.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION } from '../support.ts';

const CHECK = { current_version: '1.0.0', platform: 'windows', arch: 'x64' };
const LOGIN = {
  email: 'ada@example.com',
  password: 'secret',
  platform: 'web',
  device: { id: 'browser', name: 'A browser' },
};
/** Words of zod's own messages. */
const LIBRARY = /invalid input|expected|received|too small|too big|>=|<=|undefined|NaN/i;

describe('the message about an invalid request', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService({ env: UNLIMITED });
  });
  afterAll(() => service.close());

  it.each<[string, unknown, Record<string, string>, string]>([
    [
      CHECK_UPDATE,
      {},
      {
        '/current_version': 'is required',
        '/platform': 'is required',
        '/arch': 'is required',
      },
      'The body is not valid: current_version is required; platform is required; arch is required.',
    ],
    [
      CHECK_UPDATE,
      { ...CHECK, current_version: 1, platform: '', arch: null, channel: 'x'.repeat(129) },
      {
        '/current_version': 'must be a string',
        '/platform': 'must not be empty',
        '/arch': 'must be a string',
        '/channel': 'must have at most 128 characters',
      },
      'The body is not valid: current_version must be a string; platform must not be empty; arch must be a string; and 1 more.',
    ],
    [
      CHECK_UPDATE,
      [],
      { '': 'must be a JSON object' },
      'The body is not valid: it must be a JSON object.',
    ],
    [
      `${AUTH}/login`,
      { ...LOGIN, email: 'ada', platform: 'amiga', device: { id: 'browser', name: 'two\nlines' } },
      {
        '/email': 'must be a mail address, such as ada@example.com',
        '/platform': 'must be one of windows, macos, linux, web',
        '/device/name': 'must be one line, without control or invisible characters',
      },
      'The body is not valid: email must be a mail address, such as ada@example.com; platform must be one of windows, macos, linux, web; device.name must be one line, without control or invisible characters.',
    ],
  ])('%s %j', async (url, payload, details, sentence) => {
    const answer = await service.app.http.inject({ method: 'POST', url, payload } as never);
    const { detail, code, errors } = answer.json();
    expect([answer.statusCode, code, detail]).toEqual([400, 'invalid_request', sentence]);
    const found = errors.map((error: Record<string, string>) => [error.pointer, error.detail]);
    expect(Object.fromEntries(found)).toEqual(details);
    expect(answer.body).not.toMatch(LIBRARY);
  });

  it('covers addresses and queries too', async () => {
    const ask = async (url: string) => (await service.app.http.inject({ url })).json().detail;
    expect(await ask(`${LATEST_VERSION}?channel=&channel=stable`)).toBe(
      'The query is not valid: channel must be a single string.',
    );
    expect(await ask(`${DOWNLOAD}/${'x'.repeat(200)}`)).toBe(
      'The address is not valid: platform must have at most 128 characters.',
    );
  });

  it('names every field whose parser refuses it', async () => {
    const payload = { current_version: 'one', platform: 'amiga', arch: 'z80' };
    const url = CHECK_UPDATE;
    const { detail } = (await service.app.http.inject({ method: 'POST', url, payload })).json();
    expect(detail).toMatch(
      /^Several fields are not valid\. current_version: .* platform: .* arch: /,
    );
  });
});
