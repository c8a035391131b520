import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OverviewRelease, Start } from '../../../../src/features/console/answers.ts';
import type { ChangeRequest } from '../../../../src/features/console/changes/change-request.ts';
import { openBrowserFiles } from '../../../../src/web/browser-files.ts';
import { adoptionOf } from './fixture-adoption.ts';
import { answerChange, answerPreview } from './fixture-changes.ts';
import { detailOf } from './fixture-release.ts';
import { overviewOf, releasesOf, seenNow } from './fixture-releases.ts';
import { DOCTOR, EXPLAINED, historyOf, revisionOf } from './fixture-reports.ts';

/** A server that answers the console's contract from fixtures, and can be told to fail. */

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const APPLICATION = 'desktop';
const TOKEN = 'token-of-the-fixture';

export interface Fixture {
  base: string;
  mode: 'local' | 'service';
  mayChange: boolean;
  revision: number;
  by: string;
  releases: readonly OverviewRelease[];
  /** Why the store cannot be read. */
  problem: string | null;
  /** Every answer of the API is delayed. */
  slowMs: number;
  /** Every request to the API is cut off. */
  isDown: boolean;
  /** The next POST of a change or preview finds a newer catalog. */
  changesUnderneath: boolean;
  /** The detail of the refusal of every change. */
  refusal: string | null;
  /** The code and status of every answer of the API. */
  denied: { readonly status: number; readonly code: string; readonly detail: string } | null;
  /** What was asked for, as `POST /console/api/…`. */
  readonly asked: string[];
  readonly bodies: ChangeRequest[];
}

export const createFixture = (change: Partial<Fixture> = {}): Fixture => ({
  base: '',
  mode: 'local',
  mayChange: true,
  revision: 128,
  by: 'ada@build-7',
  releases: releasesOf(30),
  problem: null,
  slowMs: 0,
  isDown: false,
  changesUnderneath: false,
  refusal: null,
  denied: null,
  asked: [],
  bodies: [],
  ...change,
});

export interface FixtureServer {
  readonly origin: string;
  close(): Promise<void>;
}

export async function openFixtureServer(fixture: Fixture, port = 0): Promise<FixtureServer> {
  const files = await openBrowserFiles();
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Slipway console</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${fixture.base}/${files.nameOf('console.css')}"></head><body><div id="console" data-base="${fixture.base}" data-mode="${fixture.mode}"></div><noscript>The console needs JavaScript.</noscript><script type="module" src="${fixture.base}/${files.nameOf('console.js')}"></script></body></html>`;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://console');
    const path = url.pathname.slice(fixture.base.length);
    response.setHeader('content-security-policy', CSP);
    if (path.startsWith('/console/api/') || path.startsWith('/api/v1/')) {
      fixture.asked.push(`${request.method} ${path}`);
      if (fixture.slowMs > 0) await sleep(fixture.slowMs);
      if (fixture.isDown) return void request.socket.destroy();
      return answerApi(fixture, { request, response, path, query: url.searchParams });
    }
    const file = files.file(path.slice(1));
    if (file !== undefined) {
      response.setHeader('content-type', file.contentType);
      return void response.end(file.bytes);
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    return void response.writeHead(path.startsWith('/console') ? 200 : 404).end(page);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
}

async function answerApi(fixture: Fixture, call: Call): Promise<void> {
  const { request, response, path } = call;
  if (fixture.denied !== null && path.startsWith('/console/')) {
    return send(response, fixture.denied.status, fixture.denied);
  }
  if (fixture.mode === 'service' && path.startsWith('/console/')) {
    const isSignedIn = request.headers.authorization === `Bearer ${TOKEN}`;
    const detail = 'Sign in first.';
    if (!isSignedIn) return send(response, 401, { status: 401, code: 'not_signed_in', detail });
  }
  if (path === '/api/v1/auth/login') {
    const answer = answerSignIn(await bodyOf(request));
    return send(response, answer.status, answer.body);
  }
  if (request.method === 'POST') {
    const body = JSON.parse(await bodyOf(request));
    if (path === '/console/api/doctor') return send(response, 200, DOCTOR);
    if (path === '/console/api/markdown') {
      const text = String(body.markdown).replace(/[&<]/g, (one) =>
        one === '<' ? '&lt;' : '&amp;',
      );
      return send(response, 200, { html: `<p>${text}</p>` });
    }
    const answer = path.endsWith('/preview')
      ? answerPreview(fixture, body)
      : answerChange(fixture, body);
    return send(response, answer.status, answer.body);
  }
  const answer = answerGet(fixture, call);
  if (answer === undefined) {
    return send(response, 404, unknownOf(path));
  }
  const tag = path.endsWith('/overview') ? `"${fixture.revision}-${fixture.problem}"` : null;
  if (tag !== null && request.headers['if-none-match'] === tag) {
    return void response.writeHead(304).end();
  }
  if (tag !== null) response.setHeader('etag', tag);
  return send(response, 200, answer);
}

/** The application and the release of the fixture are the only ones. */
function unknownOf(path: string) {
  const [, app, version] =
    /^\/console\/api\/apps\/([^/]+)(?:\/releases\/([^/]+))?/.exec(path) ?? [];
  if (app !== undefined && app !== APPLICATION) {
    const detail = `No application "${app}" in this store. Applications: ${APPLICATION}.`;
    return { status: 404, code: 'unknown_application', detail };
  }
  if (version === undefined) {
    return { status: 404, code: 'not_found', detail: `There is nothing at ${path}.` };
  }
  const detail = `No channel of ${APPLICATION} lists ${version}.`;
  return { status: 404, code: 'unknown_version', detail };
}

function answerGet(fixture: Fixture, { path, query }: Call): unknown {
  const { revision, releases, problem, by } = fixture;
  const readAt = problem === null ? {} : { readAt: new Date(Date.now() - 40_000).toISOString() };
  const seen = seenNow(revision, { problem, revisionBy: by, ...readAt });
  if (path === '/console/api/start') return startOf(fixture);
  const [, app, area, name] =
    /^\/console\/api\/apps\/([^/]+)\/([^/]+)(?:\/(.+))?$/.exec(path) ?? [];
  if (app !== APPLICATION) return undefined;
  if (area === 'overview') return overviewOf(seen, releases);
  if (area === 'adoption') return adoptionOf(Number(query.get('days') ?? 42));
  if (area === 'explain') return EXPLAINED;
  if (area === 'history' && name !== undefined) return revisionOf(Number(name), revision);
  if (area === 'history') return historyOf(revision, Number(query.get('before')) || null);
  const found = releases.find(({ version }) => version === decodeURIComponent(name ?? ''));
  return found === undefined ? undefined : detailOf(seen, found);
}

const startOf = ({ mode, mayChange }: Fixture): Start => ({
  mode,
  mayChange,
  store: mode === 'local' ? 's3://releases' : null,
  actor: mayChange ? 'ada@build-7' : null,
  version: '0.1.0',
  applications: ['desktop', 'companion', 'a-rather-long-application-name-for-kiosks'],
  defaultApplication: 'desktop',
  now: new Date().toISOString(),
});

function send(response: ServerResponse, status: number, body: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.writeHead(status).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString() || '{}';
}

/** The service signs in with this answer, for the console in the service. */
function answerSignIn(body: string) {
  const { email, password } = JSON.parse(body);
  if (password !== 'correct horse') {
    const detail = 'The email address or the password is wrong.';
    return { status: 401, body: { status: 401, code: 'invalid_credentials', detail } };
  }
  const account = { id: 'a1', email, email_verified: true, tier: 'pro' };
  return {
    status: 200,
    body: { access_token: TOKEN, refresh_token: 'refresh', expires_in: 600, account },
  };
}
