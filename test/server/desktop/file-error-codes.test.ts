import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/core/system.ts';
import { createByteAnswers } from '../../../src/server/bytes/byte-answers.ts';
import type { App } from '../../../src/server/deps.ts';
import { registerFiles } from '../../../src/server/desktop/file.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createTestService } from '../../support/service.ts';
import { createBreakableStore, createErrorLedger, get } from '../support.ts';

/** As `test/server/error-codes.test.ts`, for the links that the service answers itself. */

const KEY = 'apps/desktop/artifacts/0/App.exe';
const ROUTES = {
  'GET /files/apps/{app}/artifacts/{object}/{filename}': 'files',
  'GET /files/public/{signature}/apps/{app}/artifacts/{object}/{filename}': 'files/public/good',
};

const broken = createBreakableStore(createMemoryStore({ clock: systemClock }));
const ledger = createErrorLedger();
let app: App;

beforeAll(async () => {
  await broken.store.create(KEY, Buffer.from('the program'));
  app = await buildBase({ logger: pino({ level: 'silent' }), trustProxy: false }, new Registry());
  const refuse = () => {
    throw new AppError('invalid_link', 'This download link is not valid. Request a new one.');
  };
  registerFiles(app, {
    store: broken.store,
    bytes: createByteAnswers(systemClock),
    clock: systemClock,
    offload: undefined,
    verifyLink: ({ query }) => (query.signature === 'bad' ? refuse() : { filename: 'App.exe' }),
    verifyPublicLink: ({ signature }) => (signature === 'good' ? undefined : refuse()),
  });
  await app.ready();
});
afterAll(() => app.close());

it.each(Object.entries(ROUTES))('%s answers the documented errors', async (route, below) => {
  const from = { app: { http: app } } as unknown as Parameters<typeof ledger.produce>[0];
  const ask = (status: number, code: ErrorCode, url = `/${below}/${KEY}`, headers = {}) =>
    ledger.produce(from, route, status, code, { url, headers });
  const refused = below === 'files' ? `/files/${KEY}?signature=bad` : `/files/public/bad/${KEY}`;
  await ask(403, 'invalid_link', refused);
  await ask(404, 'unknown_file', `/${below}/${KEY}.old`);
  await ask(412, 'precondition_failed', undefined, { 'if-match': '"x"' });
  await ask(416, 'range_not_satisfiable', undefined, { range: 'bytes=999-' });
  for (const code of ['store_unavailable', 'store_denied'] as const) {
    broken.failWith(code);
    await ask(503, code);
  }
  broken.failWith(undefined);
});

it('are exactly those that the OpenAPI document lists', async () => {
  const service = await createTestService({
    store: 'directory',
    env: { PUBLIC_FILES_URL: 'https://files.example.com' },
  });
  const { body } = await get(service, '/openapi.json');
  expect(Object.keys(body.paths).filter((path) => path.startsWith('/files'))).toHaveLength(2);
  ledger.expectDocumented(body, ['files']);
  await service.close();
});
