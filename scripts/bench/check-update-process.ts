import { createServer, type Server } from 'node:http';
import path from 'node:path';
import cors from '@fastify/cors';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openStore } from '../../src/app/stores.ts';
import { type BuiltApp, buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { checkUpdateOptions } from '../../src/http/desktop/check-update.ts';
import { buildBase } from '../../src/http/server/build-server.ts';
import { connectionLimits } from '../../src/http/server/connection-limits.ts';
import { createConnections } from '../../src/http/server/connections.ts';
import { BODY_BYTES_MAX } from '../../src/http/server/json-body.ts';
import { createLoad, shedLoad } from '../../src/http/server/load.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { createS3Store } from '../../src/object-store/s3.ts';
import { readProcessLimits, systemClock, systemRandomness } from '../../src/system.ts';
import { answerParent, readCpuMicros } from './child.ts';

/** The server side of the check-update benchmark: the service, or one of the baselines. */

const PATH = '/api/v1/desktop/check-update';

/** The default log level. Writes to /dev/null, so that disk speed does not affect the result. */
const logger = pino({ level: 'info' }, pino.destination('/dev/null'));

let service: BuiltApp | undefined;

answerParent({
  service: async ({ directory, links }) => openService(String(directory), links === 's3'),
  fixed: async ({ answer }) => openFixed(Buffer.from(String(answer))),
  bare: async ({ answer }) => openBare(Buffer.from(String(answer))),
  cpu: async () => readCpuMicros(),
  counted: async () => countedChecks(),
  presign: async ({ calls }) => measurePresigning(Number(calls)),
});

/** @param onS3 presigns links for a bucket, which needs no S3 server; documents still come from the directory */
async function openService(directory: string, onS3: boolean): Promise<string> {
  const config = loadConfig({ DATA_DIR: directory });
  const deps = { config, clock: systemClock, randomness: systemRandomness, logger };
  const { presign } = createBucket();
  const store = onS3 ? { store: { ...(await openStore(deps)), presign } } : {};
  const app = await buildApp({ ...deps, ...store });
  service = app;
  await app.catalog.start();
  // Production services count checks and store the counts in the background, so this one does too.
  app.background.start();
  await app.http.listen({ host: '127.0.0.1', port: 0 });
  const url = addressOf(app.http.server);
  app.learnAddress(url);
  return `${url}${PATH}`;
}

/** How many checks the service has counted, including stored counts of earlier processes. */
function countedChecks(): number {
  const days = { from: '2000-01-01', to: '9999-12-31' };
  const rows = service?.usage.analytics({ application: 'desktop', ...days }) ?? [];
  return rows.reduce((sum, { checks }) => sum + checks, 0);
}

function createBucket(): ObjectStore {
  return createS3Store({
    bucket: 'acme-studio-releases',
    region: 'eu-central-1',
    forcePathStyle: false,
    credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'not-a-secret'.repeat(4) },
    clock: systemClock,
    randomness: systemRandomness,
  });
}

/** Has the plugins, hooks, log, limits and body schema of check-update; its handler sends a fixed buffer. */
async function openFixed(answer: Buffer): Promise<string> {
  const connections = createConnections({
    limits: connectionLimits(readProcessLimits()),
    bodyBytesMax: BODY_BYTES_MAX,
    clock: systemClock,
    log: logger,
  });
  const app = await buildBase({ logger, trustProxy: false, connections }, new Registry());
  await app.register(cors, { origin: '*', exposedHeaders: ['etag'], strictPreflight: false });
  await app.register(async (scope) => {
    shedLoad(scope, createLoad());
    scope.post<{ Reply: Buffer }>(PATH, checkUpdateOptions, (_request, reply) => {
      reply.type('application/json; charset=utf-8').send(answer);
    });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `${addressOf(app.server)}${PATH}`;
}

/** The minimum that an HTTP server in Node does with a body. */
async function openBare(answer: Buffer): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': answer.length };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      Buffer.concat(chunks);
      response.writeHead(200, headers).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `${addressOf(server)}${PATH}`;
}

function addressOf(server: Server): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null)
    throw new Error('The server does not listen.');
  return `http://127.0.0.1:${address.port}`;
}

/** Microseconds of processor time per call after a warm-up, with many keys and signing times. */
async function measurePresigning(calls: number): Promise<number> {
  const { presign } = createBucket();
  const filename = 'Acme-Studio-Setup.exe';
  const sign = async (call: number): Promise<void> => {
    const signedAt = new Date(Date.now() - (call % 600) * 1000);
    const expiresAt = new Date(signedAt.getTime() + 1_800_000);
    const key = path.posix.join('apps/desktop/artifacts', String(call), filename);
    await presign({ method: 'GET', key, filename, signedAt, expiresAt });
  };
  for (let call = 0; call < calls; call++) await sign(call);
  const before = readCpuMicros();
  for (let call = 0; call < calls; call++) await sign(call);
  return (readCpuMicros() - before) / calls;
}
