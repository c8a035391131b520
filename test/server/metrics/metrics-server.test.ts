import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { openMetricsServer } from '../../../src/server/metrics/metrics-server.ts';
import { exchange } from '../http/raw-client.ts';

describe('the server of the metrics', () => {
  it('answers its two addresses, and nothing else: no address that does not begin with a slash', async () => {
    const server = await openMetricsServer(
      {
        metrics: async () => 'the metrics',
        readiness: async () => ({ status: 'ready' }),
        clock: systemClock,
        log: pino({ level: 'silent' }),
      },
      { metricsHost: '127.0.0.1', metricsPort: 0 },
    );
    if (server === undefined) throw new Error('The server of the metrics does not listen.');
    const { port } = server.address() as AddressInfo;
    const ask = (address: string) =>
      exchange(port, `GET ${address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await ask('/metrics')).toMatchObject({
      status: 200,
      body: expect.stringContaining('the metrics'),
    });
    expect(await ask('/readyz?x')).toMatchObject({
      status: 200,
      body: expect.stringContaining('{"status":"ready"}'),
    });
    expect(await ask('//x/metrics')).toMatchObject({ status: 404 });
    for (const address of ['http://x/metrics', 'http://x', '*', 'metrics', '?/metrics']) {
      const answer = await ask(address);
      // Node's parser refuses some of them itself.
      expect([400, 404], address).toContain(answer?.status);
      expect(answer?.body, address).not.toContain('the metrics');
    }
    server.close();
  });
});
