import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort, killAll, type Running, startServer } from '../../support/process.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** The service with two workers, as processes. */

const CHECK = '/api/v1/desktop/check-update';
/** A change is live within this time. */
const LIVE_WITHIN_MS = 5_000;
const WORKERS = 2;
// NODE_OPTIONS has a syntax of its own for double quotes.
const COMPUTES_ON_SIGUSR2 = "data:text/javascript,process.on('SIGUSR2',()=>{for(;;);})";

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
let publisher: TestService;
let artifact: Awaited<ReturnType<typeof makeArtifact>>;
let minor = 0;

const env = (): Record<string, string> => ({
  DATA_DIR: path.join(directory.path, 'data'),
  WORKERS: String(WORKERS),
});

beforeAll(async () => {
  directory = await makeTemporaryDirectory();
  publisher = await createTestService({ env: env(), start: false });
  artifact = await makeArtifact(directory.path, { content: 'content' });
  await publishNext();
});
afterEach(killAll);
afterAll(async () => {
  await publisher.close();
  await directory.remove();
});

async function publishNext(): Promise<string> {
  const version = `2.${minor++}.0`;
  await publish(publisher, { version, artifacts: [artifact] });
  return version;
}

interface LogLine {
  readonly msg: string;
  readonly pid: number;
  readonly worker?: number;
}

const logOf = (service: Running): LogLine[] =>
  service
    .output()
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);

const leaderOf = (service: Running): number =>
  logOf(service).findLast(({ msg }) => msg.startsWith('this worker polls'))?.worker ?? 0;

async function startWorkers(more: Record<string, string> = {}) {
  const metricsPort = await freePort();
  const service = startServer({ ...env(), METRICS_PORT: String(metricsPort), ...more });
  const url = await service.url();
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const haveJoined = async (count = WORKERS): Promise<void> => {
    await expect
      .poll(metrics, { timeout: 60_000, interval: 200 })
      .toMatch(`\nslipway_workers ${count}\n`);
  };
  await haveJoined();
  return { service, url, metrics, metricsPort, haveJoined };
}

/** Sends on a connection of its own. @returns the version that is offered; undefined when the request failed */
function check(url: string, agent: Agent): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asking = request(`${url}${CHECK}`, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    asking.on('error', () => resolve(undefined));
    asking.on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', () => resolve(undefined));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve(answer.statusCode === 200 ? JSON.parse(text).version : undefined);
      });
    });
    asking.end('{"current_version":"1.0.0","platform":"windows","arch":"x64"}');
  });
}

/** Asks on fresh connections, which the kernel spreads over the workers, until all of them offer the version. */
async function untilLiveEverywhere(url: string, version: string): Promise<number> {
  const begun = Date.now();
  for (;;) {
    const agents = Array.from({ length: 24 }, () => new Agent());
    const answers = await Promise.all(agents.map((agent) => check(url, agent)));
    if (answers.every((answer) => answer === version)) return Date.now() - begun;
    expect(Date.now() - begun).toBeLessThan(6 * LIVE_WITHIN_MS);
    await sleep(50);
  }
}

/** Asks until one worker offers the version, and does not wait for answers of a worker that hangs. */
async function untilLiveSomewhere(url: string, version: string): Promise<void> {
  const asks = async (): Promise<string[]> => {
    const offered: string[] = [];
    const agents = Array.from({ length: 8 }, () => new Agent());
    const all = agents.map(async (agent) => offered.push(String(await check(url, agent))));
    await Promise.race([Promise.all(all), sleep(300)]);
    for (const agent of agents) agent.destroy();
    return offered;
  };
  await expect.poll(asks, { timeout: 60_000 }).toContain(version);
}

/** Clients that ask one request after the other, each on its own connection, until stopped. */
function startLoad(url: string, clients: number) {
  const counts = { answered: 0, failed: 0 };
  let isStopping = false;
  const running = Array.from({ length: clients }, async () => {
    let agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isStopping) {
      if ((await check(url, agent)) === undefined) {
        counts.failed++;
        agent.destroy();
        agent = new Agent({ keepAlive: true, maxSockets: 1 });
        await sleep(20);
      } else {
        counts.answered++;
        // Leaves the processors to the services: they start and stop meanwhile.
        await sleep(5);
      }
    }
    agent.destroy();
  });
  return {
    counts,
    stop: async () => {
      isStopping = true;
      await Promise.all(running);
    },
  };
}

describe('workers', () => {
  it('share a free port, say so once, and stop with exit code 0', async () => {
    const { service, url } = await startWorkers();
    await untilLiveEverywhere(url, `2.${minor - 1}.0`);
    service.process.kill('SIGTERM');
    // A terminal sends the signal to every process, and npm sends it once more.
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    const lines = logOf(service);
    expect(lines.filter(({ msg }) => msg.startsWith('slipway is listening'))).toHaveLength(1);
    const answered = lines.filter(({ msg }) => msg === 'request').map(({ pid }) => pid);
    expect(new Set(answered).size).toBe(WORKERS);
    expect(lines.filter(({ msg }) => msg === 'stopped')).toHaveLength(WORKERS + 1);
    expect(service.errors()).toBe('');
  });

  it('answer from a new release within five seconds, all of them', async () => {
    const { service, url, metrics } = await startWorkers();
    for (let round = 0; round < 3; round++) {
      const ms = await untilLiveEverywhere(url, await publishNext());
      console.log(`live on ${WORKERS} workers after ${ms} ms`);
    }
    expect(await metrics()).toMatch(new RegExp(`^slipway_catalog_revision.* ${minor}$`, 'm'));
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  });

  it.each([
    ['the leader', true],
    ['a follower', false],
  ])(
    '%s killed under load: only its own connections fail, and it is replaced',
    async (_, isLeader) => {
      const { service, url, haveJoined } = await startWorkers();
      const load = startLoad(url, 24);
      await sleep(1_000);
      const leader = leaderOf(service);
      const pids = new Set(logOf(service).map(({ pid }) => pid));
      pids.delete(service.process.pid ?? 0);
      const victim = isLeader ? leader : [...pids].find((pid) => pid !== leader);
      expect(victim).toBeGreaterThan(0);
      expect(load.counts.failed).toBe(0);
      process.kill(Number(victim), 'SIGKILL');
      const version = await publishNext();
      const ms = await untilLiveEverywhere(url, version);
      await haveJoined();
      await sleep(1_000);
      await load.stop();
      console.log(`killed: ${JSON.stringify(load.counts)}, live after ${ms} ms`);
      // One request each: the clients connect again to the other worker.
      expect(load.counts.failed).toBeLessThanOrEqual(24);
      expect(load.counts.answered).toBeGreaterThan(100);
      if (isLeader) expect(leaderOf(service)).not.toBe(leader);
      else expect(leaderOf(service)).toBe(leader);
      await untilLiveEverywhere(url, await publishNext());
      service.process.kill('SIGTERM');
      expect(await service.exit).toBe(0);
    },
  );

  it.each([
    ['is stopped', 'SIGSTOP', {}],
    ['computes for ever', 'SIGUSR2', { NODE_OPTIONS: `--import=${COMPUTES_ON_SIGUSR2}` }],
  ] as const)(
    'a leader that %s no longer leads within seconds, and is ended later',
    async (_, signal, more) => {
      const { service, url, haveJoined } = await startWorkers(more);
      const leader = leaderOf(service);
      process.kill(leader, signal);
      const begun = Date.now();
      await untilLiveSomewhere(url, await publishNext());
      console.log(`a leader hangs (${signal}): live on the other after ${Date.now() - begun} ms`);
      expect(leaderOf(service)).not.toBe(leader);
      // The release was live before the hanging worker was ended.
      expect(service.output()).not.toContain('a worker does not answer');
      if (signal !== 'SIGSTOP') {
        // It would compute on after its primary process has ended.
        process.kill(leader, 'SIGKILL');
        return;
      }
      await expect
        .poll(() => service.output(), { timeout: 60_000 })
        .toContain('a worker does not answer');
      console.log(`ended after ${Date.now() - begun} ms`);
      await haveJoined();
      await untilLiveEverywhere(url, await publishNext());
      service.process.kill('SIGTERM');
      expect(await service.exit).toBe(0);
    },
  );

  it('a leader that was only busy follows from then on', async () => {
    const { service, url, haveJoined } = await startWorkers();
    const leader = leaderOf(service);
    process.kill(leader, 'SIGSTOP');
    await expect.poll(() => leaderOf(service), { timeout: 60_000 }).not.toBe(leader);
    process.kill(leader, 'SIGCONT');
    for (let round = 0; round < 2; round++) await untilLiveEverywhere(url, await publishNext());
    await haveJoined();
    expect(leaderOf(service)).not.toBe(leader);
    expect(service.output()).not.toContain('a worker does not answer');
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  });

  it('SIGTERM under load: no request on an open connection fails, and all counts are stored', async () => {
    const more = {
      DATA_DIR: path.join(directory.path, 'counts'),
      COUNTERS_FLUSH_INTERVAL: '1h',
      PUBLIC_GROUP_MIN: '1',
    };
    const other = await createTestService({ env: more, start: false });
    await publish(other, { version: '2.0.0', artifacts: [artifact] });
    await other.close();
    const { service, url } = await startWorkers(more);
    const links = await Promise.all(
      Array.from({ length: 40 }, () =>
        fetch(`${url}/api/v1/desktop/download/windows`, {
          redirect: 'manual',
          headers: { connection: 'close' },
        }),
      ),
    );
    expect(links.every(({ status }) => status < 400)).toBe(true);
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    const next = await startWorkers(more);
    const live = `${next.url}/api/v1/metrics/public/live?app=desktop`;
    await expect
      .poll(async () => (await fetch(live)).json(), { timeout: 30_000 })
      .toMatchObject({ download_links: { all_time: 40 } });
    next.service.process.kill('SIGTERM');
    expect(await next.service.exit).toBe(0);
  });

  it('end when the primary process is killed', async () => {
    const { service, url } = await startWorkers();
    service.process.kill('SIGKILL');
    const answers = () =>
      fetch(`${url}/livez`).then(
        () => true,
        () => false,
      );
    await expect.poll(answers, { timeout: 20_000 }).toBe(false);
  });

  it('count the tries of one address together', async () => {
    const { service, url } = await startWorkers({ AUTH_PER_ADDRESS: '6' });
    const statuses = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        fetch(`${url}/api/v1/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify({
            email: `a${n}@example.com`,
            password: 'wrong password',
            platform: 'linux',
            device: { id: 'x', name: 'x' },
          }),
        }).then(({ status }) => status),
      ),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(6);
    expect(statuses.filter((status) => status === 429)).toHaveLength(24);
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  });

  it('show one status, whichever of them answers', async () => {
    const { service, url } = await startWorkers();
    const pages = async (): Promise<string[]> => {
      const texts = await Promise.all(
        Array.from({ length: 24 }, async () => {
          const answer = await fetch(`${url}/api/v1/system/status`, {
            headers: { connection: 'close' },
          });
          const { components } = (await answer.json()) as {
            components: { id: string; status: string; updated_at: string }[];
          };
          return JSON.stringify(
            components.map(({ id, status, updated_at }) => [id, status, updated_at]),
          );
        }),
      );
      return [...new Set(texts)];
    };
    await expect.poll(pages, { timeout: 30_000 }).toHaveLength(1);
    service.process.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  });
});

describe('workers that cannot start', () => {
  it('report wrong settings once with exit code 2, and ports in use with 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const busy = startServer({ ...env(), PORT: String(port) });
    const busyMetrics = startServer({ ...env(), METRICS_PORT: String(port) });
    const bad = startServer({ ...env(), LOG_LEVEL: 'loud', WORKERS: 'many' });
    for (const [service, setting] of [
      [busy, 'PORT'],
      [busyMetrics, 'METRICS_PORT'],
    ] as const) {
      expect(await service.exit).toBe(1);
      expect(service.errors()).toBe(
        `slipway: Port ${port} on 127.0.0.1 is in use by another program. Stop that program, or set ${setting} to another port; 0 selects a free one.\n`,
      );
    }
    expect(await bad.exit).toBe(2);
    expect(bad.errors()).toMatch(/^ {2}WORKERS: must be auto, or a whole number, 1 to 256$/m);
    taken.close();
  });

  it('report once what the first worker finds', async () => {
    const service = startServer({ ...env(), DATA_DIR: '/dev/null/data' });
    expect(await service.exit).toBe(1);
    expect(service.errors()).toMatch(/^slipway: Could not create the directory.*\n$/);
    expect(logOf(service).filter(({ msg }) => msg === 'a worker failed')).toEqual([]);
  });
});
