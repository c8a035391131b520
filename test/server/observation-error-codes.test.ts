import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createTestService, type TestService } from '../support/service.ts';
import { createErrorLedger, createSwitchedLoad, get } from './support.ts';

/** As `error-codes.test.ts`, for status, metrics and monitoring. */

const LIVE = 'GET /api/v1/metrics/public/live';
const STATUS = 'GET /api/v1/system/status';
const MONITORING = ['GET /monitoring/health', 'GET /monitoring/overview'];

const ledger = createErrorLedger();

describe('error codes of status, metrics and monitoring', () => {
  const services: TestService[] = [];
  const load = createSwitchedLoad();
  let service: TestService;
  const open = async (options: Parameters<typeof createTestService>[0] = {}) => {
    const opened = await createTestService(options);
    services.push(opened);
    return opened;
  };
  beforeAll(async () => {
    service = await open({ load });
  });
  afterAll(() => Promise.all(services.map((one) => one.close())));

  it('metrics', async () => {
    const url = '/api/v1/metrics/public/live';
    await ledger.produce(service, LIVE, 404, 'unknown_application', { url: `${url}?app=nothing` });
    await ledger.produce(service, LIVE, 400, 'invalid_request', { url: `${url}?app=` });
  });

  it('monitoring, when its upstream does not answer', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const proxy = await open({ env: { MONITORING_UPSTREAM: `http://127.0.0.1:${port}` } });
    for (const operation of MONITORING) {
      await ledger.produce(proxy, operation, 502, 'upstream_unavailable');
    }
  });

  it('overloaded', async () => {
    load.set(true);
    for (const operation of [STATUS, LIVE, ...MONITORING]) {
      await ledger.produce(service, operation, 503, 'overloaded');
    }
    load.set(false);
  }, 30_000);

  it('are exactly those that the document lists', async () => {
    const { body } = await get(service, '/openapi.json');
    ledger.expectDocumented(body, ['status', 'metrics', 'monitoring']);
  });
});
