import type { ClientPlatform } from '../../../../src/features/accounts/sessions/session-document.ts';
import type { TestService } from '../../../support/service.ts';

/** Shared by the tests about accounts: users, and short ways to send requests as one of them. */

export const AUTH = '/api/v1/auth';
export const ACCOUNT = '/api/v1/account';
export const SESSIONS = `${ACCOUNT}/sessions`;
export const KEYS = '/api/v1/developer-keys';
export const BILLING = '/api/v1/billing';
export const PORTAL = '/api/v1/portal/session';
export const ANALYTICS = '/api/v1/analytics/releases';
export const EXPLAIN = '/api/v1/desktop/explain';
export const JWKS = '/.well-known/jwks.json';
export const SIGNED_IN_DOCUMENT = '/api/v1/openapi.json';

export const PASSWORD = 'correct horse battery staple';
export const UNLIMITED = { AUTH_PER_ADDRESS: '999999' };

export const WEBSITE = 'https://www.example.com';
export const COOKIE_ENV = { ...UNLIMITED, COOKIE_MODE: 'true', WEBSITE_ORIGINS: WEBSITE };
export const COOKIE = '__Host-slipway_session';
/** The headers that the website's own script sends. */
export const OWN_SCRIPT = { origin: WEBSITE, 'x-slipway-request': '1' };

export interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** An access token. */
  readonly bearer?: string;
  /** The value of the session's cookie. */
  readonly cookie?: string;
  /** The network address that it comes from. */
  readonly address?: string;
}

export async function ask(
  service: Pick<TestService, 'app'>,
  method: string,
  url: string,
  asked: Asked = {},
) {
  const { body, bearer, cookie, address } = asked;
  const headers = {
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(cookie === undefined ? {} : { cookie: `${COOKIE}=${cookie}` }),
    ...asked.headers,
  };
  const response = await service.app.http.inject({
    method,
    url,
    headers,
    ...(body === undefined ? {} : { payload: body }),
    ...(address === undefined ? {} : { remoteAddress: address }),
  } as never);
  const isJson = /json/.test(String(response.headers['content-type']));
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    body: isJson ? response.json() : undefined,
    setCookie: response.headers['set-cookie'] as string | undefined,
  };
}

export type Answer = Awaited<ReturnType<typeof ask>>;

/** An answer without what differs from one request to the next. */
export function comparable({ status, headers, text, body }: Answer) {
  const { date: _date, 'x-request-id': id, ...kept } = headers;
  const content = body?.request_id === undefined ? text : text.replaceAll(String(id), 'ID');
  return { status, headers: kept, content };
}

let people = 0;

export function newEmail(): string {
  people++;
  return `person-${people}@example.com`;
}

export interface Person {
  readonly email: string;
  readonly id: string;
  readonly device: { readonly id: string; readonly name: string };
  readonly platform: ClientPlatform;
  readonly access: string;
  /** From the body, or from the cookie. */
  readonly refresh: string;
  readonly answer: Answer;
}

export interface SignInOptions extends Asked {
  readonly email?: string;
  readonly platform?: ClientPlatform;
  readonly deviceId?: string;
  readonly password?: string;
}

export async function register(service: TestService, email = newEmail()): Promise<string> {
  const answer = await ask(service, 'POST', `${AUTH}/register`, {
    body: { email, password: PASSWORD },
  });
  if (answer.status !== 202) throw new Error(answer.text);
  return email;
}

/** Tries to sign in. */
export function logIn(service: TestService, options: SignInOptions = {}): Promise<Answer> {
  const { platform = 'linux', deviceId = 'device-1', password = PASSWORD, ...asked } = options;
  const { email = newEmail(), ...rest } = asked;
  const device = { id: deviceId, name: 'A laptop' };
  return ask(service, 'POST', `${AUTH}/login`, {
    ...rest,
    body: { email, password, platform, device },
  });
}

/** A user who is signed in; registers first unless an address is given. */
export async function signIn(service: TestService, options: SignInOptions = {}): Promise<Person> {
  const { platform = 'linux', deviceId = 'device-1' } = options;
  const email = options.email ?? (await register(service));
  const answer = await logIn(service, { ...options, email });
  if (answer.status !== 200) throw new Error(answer.text);
  return {
    email,
    id: answer.body.account.id,
    device: { id: deviceId, name: 'A laptop' },
    platform,
    access: answer.body.access_token,
    refresh: answer.body.refresh_token ?? cookieOf(answer),
    answer,
  };
}

/** A refresh by token in the body. */
export function refresh(
  service: TestService,
  { device, platform }: Pick<Person, 'device' | 'platform'>,
  token: string | undefined,
  asked: Asked = {},
): Promise<Answer> {
  const body = { refresh_token: token, platform, device: { id: device.id } };
  return ask(service, 'POST', `${AUTH}/refresh`, { body, ...asked });
}

/** A refresh as the website makes it. */
export function refreshByCookie(
  service: TestService,
  person: Pick<Person, 'device'>,
  cookie: string | undefined,
  headers: Readonly<Record<string, string>> = OWN_SCRIPT,
): Promise<Answer> {
  return refresh(service, { device: person.device, platform: 'web' }, undefined, {
    headers,
    ...(cookie === undefined ? {} : { cookie }),
  });
}

export function logOut(service: TestService, asked: Asked & { scope?: 'local' | 'global' } = {}) {
  const { scope = 'local', body = {}, ...rest } = asked;
  return ask(service, 'POST', `${AUTH}/logout`, {
    ...rest,
    body: { scope, ...(body as object) },
  });
}

/** The cookie's value that an answer sets; empty when it clears it. */
export function cookieOf({ setCookie = '' }: Pick<Answer, 'setCookie'>): string {
  const [, value] = new RegExp(`^${COOKIE}=([^;]*);`).exec(setCookie) ?? [];
  if (value === undefined) throw new Error(`No cookie in ${JSON.stringify(setCookie)}`);
  return decodeURIComponent(value);
}
