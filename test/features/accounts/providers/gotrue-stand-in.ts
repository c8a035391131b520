import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A stand-in for Supabase Auth (GoTrue) on loopback. It has the part of GoTrue's OpenAPI document and error
 * codes that the adapter uses. A test can replace the response of a route.
 */
export interface GotrueStandIn {
  readonly url: string;
  readonly requests: readonly StandInRequest[];
  /** Replaces the response of a path (without its query); undefined restores the usual one. */
  answer(path: string, with_: Answer | undefined): void;
  close(): Promise<void>;
}

interface StandInRequest {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export type Answer =
  | 'hang'
  | ((response: ServerResponse, request: StandInRequest) => void)
  | {
      readonly status: number;
      readonly json?: unknown;
      readonly text?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export const API_KEY = 'sb_publishable_test';
export const PROVIDER_TOKENS = ['provider-access-token', 'provider-refresh-token'] as const;

export interface StandInUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly isConfirmed?: boolean;
  readonly isBanned?: boolean;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** An error of GoTrue's since API version 2024-01-01: with the header, and the code in the body. */
export function errorAnswer(status: number, code: string, message = code): Answer {
  return { status, headers: { 'x-sb-error-code': code }, json: { code, message } };
}

function userJson(user: StandInUser) {
  return {
    id: user.id,
    aud: 'authenticated',
    role: 'authenticated',
    email: user.email,
    phone: '',
    ...(user.isConfirmed === false ? {} : { email_confirmed_at: '2026-01-01T00:00:00Z' }),
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: {},
    identities: [],
    created_at: '2026-01-01T00:00:00Z',
    ...user.more,
  };
}

export async function startGotrueStandIn(users: readonly StandInUser[]): Promise<GotrueStandIn> {
  const replaced = new Map<string, Answer>();
  const requests: StandInRequest[] = [];
  const usual: Record<string, (request: StandInRequest) => Answer> = {
    'POST /signup': ({ body }) => {
      const { email, password } = body as { email: string; password: string };
      if (password.length < 6) return errorAnswer(422, 'weak_password');
      // For a known address, GoTrue answers with a made-up user that has a random id.
      return {
        status: 200,
        json: userJson({ id: 'made-up', email, password, isConfirmed: false }),
      };
    },
    'POST /token': ({ body }) => {
      const { email, password } = body as { email: string; password: string };
      const user = users.find((one) => one.email === email);
      if (user?.isBanned) return errorAnswer(400, 'user_banned');
      if (user?.password !== password) return errorAnswer(400, 'invalid_credentials');
      if (user.isConfirmed === false) return errorAnswer(400, 'email_not_confirmed');
      const [access_token, refresh_token] = PROVIDER_TOKENS;
      const session = { access_token, token_type: 'bearer', expires_in: 3600, refresh_token };
      return { status: 200, json: { ...session, user: userJson(user) } };
    },
    'POST /logout': () => ({ status: 204 }),
    'POST /recover': () => ({ status: 200, json: {} }),
    'POST /resend': () => ({ status: 200, json: {} }),
    'GET /health': () => ({
      status: 200,
      json: { version: 'v2.170.0', name: 'GoTrue', description: 'GoTrue is a user registration …' },
    }),
  };
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const seen = { method, path, headers, body: text === '' ? undefined : JSON.parse(text) };
    requests.push(seen);
    const route = path.split('?')[0] ?? '';
    // The gateway in front of GoTrue, Kong, checks the API key.
    const isKnown = headers.apikey === API_KEY;
    const answer = isKnown
      ? (replaced.get(route) ?? usual[`${method} ${route}`]?.(seen))
      : { status: 401, json: { message: 'Invalid API key' } };
    if (answer === 'hang') return;
    if (typeof answer === 'function') return answer(response, seen);
    const { status, json, text: plain, headers: more } = answer ?? { status: 404 };
    const type = json === undefined ? 'text/html' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...more });
    response.end(json === undefined ? plain : JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: (path, with_) => {
      if (with_ === undefined) replaced.delete(path);
      else replaced.set(path, with_);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
