import { execFile } from 'node:child_process';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import { slipway } from '../cli/support.ts';
import { freePort, killAll, startServer } from '../support/process.ts';
import { hasProgram } from '../support/programs.ts';
import { type Prometheus, type Sample, startPrometheus } from '../support/prometheus.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { createTestService } from '../support/service.ts';
import {
  ALERT_RULES,
  ALERT_TESTS,
  type Alert,
  dashboardQueries,
  PROMETHEUS_CONFIG,
  readAlerts,
  readPrometheusConfig,
} from './monitoring-files.ts';

/** The alerts and the dashboard, with a real Prometheus that scrapes real services. */

const hasPromtool = await hasProgram('promtool');
const hasPrometheus = await hasProgram('prometheus');
const alerts = readAlerts();

describe.skipIf(!hasPromtool)('promtool', () => {
  it.each([
    ['the configuration', ['check', 'config', PROMETHEUS_CONFIG]],
    ['the alerts', ['check', 'rules', '--lint=all', '--lint-fatal', ALERT_RULES]],
    ['when the alerts fire', ['test', 'rules', ALERT_TESTS]],
  ])('accepts %s', async (_what, args) => {
    const { stdout } = await promisify(execFile)('promtool', args);
    expect(stdout).toContain('SUCCESS');
    expect(stdout).not.toContain('FAILED');
  });
});

/**
 * For each alert, what is replaced in its expression so that it holds for services without a problem. The rest stays:
 * the series, the labels, and how they are put together.
 */
const RELAXED: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  SlipwayNotScraped: [['absent(slipway_build_info)', 'slipway_build_info']],
  SlipwayInstanceDown: [['== 0', '== 1']],
  SlipwayNotReady: [['== 0', '== 1']],
  SlipwayErrors: [
    ['> 0.05', '> 0'],
    ['> 0.1', '> 0'],
  ],
  SlipwaySlow: [
    ['> 0.05', '>= 0'],
    ['> 0.1', '> 0'],
  ],
  SlipwayConnectionsNearMax: [['> 0.8', '> 0']],
  SlipwayConnectionsRefused: [['> 0', '== 0']],
  SlipwayConnectionsCut: [['> 0', '== 0']],
  SlipwayWorkersMissing: [['< min by', '<= min by']],
  SlipwayCatalogOld: [['> 300', '< 300']],
  SlipwayCatalogProblems: [['> 0', '== 0']],
  SlipwaySavedState: [['== 1', '== 0']],
  SlipwayCatalogNearlyFull: [['>= 0.8', '>= 0']],
  SlipwayDraftWaits: [['> 7200', '>= 0']],
  SlipwayTrustExpires: [
    ['< 30 * 86400', '> 0'],
    ['< 2 * 86400', '> 0'],
  ],
  SlipwayDownloadsMissing: [
    ['> 100', '> 0'],
    ['< 0.05', '> 0'],
  ],
  // The channel "early" has such visitors.
  SlipwayVisitorsWithoutRelease: [],
  SlipwayStoreSlow: [['> 0.05', '>= 0']],
};
/** This one has series only when the store fails. */
const NEEDS_OUTAGE = { SlipwayStoreFailing: [['> 0.1', '> 0']] } as const;

function relax({ alert, expr }: Alert, replacements: readonly (readonly [string, string])[]) {
  let relaxed = expr;
  for (const [from, to] of replacements) {
    expect(relaxed.split(from), `${alert} has ${from} once`).toHaveLength(2);
    relaxed = relaxed.replace(from, to);
  }
  return relaxed;
}

describe.skipIf(!hasPrometheus)('Prometheus with a service and one with two workers', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let data: string;
  let instances: { readonly instance: string; readonly url: string }[];
  let prometheus: Prometheus;
  let traffic: { checks: number; stop(): Promise<void> };

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    data = path.join(directory.path, 'data');
    await publishRollout();
    await makeSigned();
    instances = await Promise.all([startService({}), startService({ WORKERS: '2' })]);
    prometheus = await startPrometheus(await writeConfig(), path.join(directory.path, 'metrics'));
    traffic = startTraffic();
  });
  afterAll(async () => {
    await traffic?.stop();
    await prometheus?.stop();
    killAll();
    await directory.remove();
  });

  /** 1.0.0 for all clients, 1.1.0 for a quarter of them, and 1.2.0 is paused. The channel "early" has only 1.1.0. */
  async function publishRollout(): Promise<void> {
    const publisher = await createTestService({ env: { DATA_DIR: data }, start: false });
    const artifacts = [await makeArtifact(directory.path)];
    const rollout = { text: '25%', freezeWindows: [] };
    await publish(publisher, { version: '1.0.0', artifacts });
    await publish(publisher, { version: '1.1.0', artifacts, rollout });
    await publish(publisher, { version: '1.1.0', artifacts, rollout, channel: 'early' });
    await publish(publisher, { version: '1.2.0', artifacts });
    const missing = [{ platform: 'macos', arch: 'arm64' }] as const;
    await publish(publisher, { version: '1.3.0', artifacts, expect: missing });
    const request = { application: 'desktop', version: '1.2.0', channel: undefined, reason: null };
    await changeStatus({ ...publisher, actor: 'test' }, 'pause', request);
    await publisher.close();
  }

  /** Another application, with a root of trust. */
  async function makeSigned(): Promise<void> {
    const env = { DATA_DIR: data, DEFAULT_APP: 'signed' };
    const at = { cwd: directory.path, env };
    const build = await makeArtifact(directory.path, { filename: 'App-1.0.0-x86_64.AppImage' });
    await slipway(['trust', 'new-key', 'k1.key', '--no-passphrase'], at);
    await slipway(['trust', 'init', '--root', 'k1.pub', '--key', 'k1.key'], at);
    const publishing = ['publish', '1.0.0', build.path, '--create', '--key', 'k1.key'];
    const published = await slipway(publishing, {
      ...at,
      env: { ...env, TRUST_ROOT: 'root.json' },
    });
    expect(published).toMatchObject({ code: 0, stderr: '' });
  }

  async function startService(env: Record<string, string>) {
    const port = await freePort();
    // Nothing listens there: the service answers its requests to the monitoring service with 503.
    const upstream = `http://127.0.0.1:${await freePort()}`;
    const trust = { TRUST_ROOT: path.join(directory.path, 'root.json'), TRUST_UNSIGNED: 'desktop' };
    const settings = {
      ...trust,
      DATA_DIR: data,
      METRICS_PORT: String(port),
      MONITORING_UPSTREAM: upstream,
    };
    const service = startServer({ ...settings, COUNTERS_FLUSH_INTERVAL: '1s', ...env });
    return { instance: `127.0.0.1:${port}`, url: await service.url() };
  }

  /** The configuration of the project with the addresses of these services, which it scrapes every second. */
  async function writeConfig(): Promise<string> {
    const config = readPrometheusConfig();
    const [{ job_name }] = config.scrape_configs;
    const targets = instances.map(({ instance }) => instance);
    const file = path.join(directory.path, 'prometheus.yml');
    await mkdir(path.join(directory.path, 'metrics'));
    const changed = {
      ...config,
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [ALERT_RULES],
      scrape_configs: [{ job_name, static_configs: [{ targets }] }],
    };
    await writeFile(file, stringify(changed));
    return file;
  }

  /** Clients check, some of them download, and some requests fail, until the tests are over. */
  function startTraffic() {
    const stopping = new AbortController();
    const counts = { checks: 0 };
    const ask = async (url: string): Promise<void> => {
      const check = await fetch(`${url}/api/v1/desktop/check-update`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ current_version: '0.9.0', platform: 'windows', arch: 'x64' }),
      });
      expect(await check.json()).toMatchObject({ latest_version: '1.0.0' });
      const paths = ['/api/v1/desktop/download/windows', '/monitoring/health', '/nothing'];
      for (const address of paths) {
        const answer = await fetch(`${url}${address}`, { redirect: 'manual' });
        await answer.arrayBuffer();
      }
    };
    const running = (async () => {
      while (!stopping.signal.aborted) {
        await Promise.all(instances.map(({ url }) => ask(url)));
        counts.checks += 1;
        await sleep(100);
      }
    })();
    return Object.assign(counts, {
      stop: async () => {
        stopping.abort();
        await running;
      },
    });
  }

  /** Waits until an expression has a result that is a number. */
  async function dataOf(expr: string): Promise<readonly Sample[]> {
    let samples: readonly Sample[] = [];
    const hasData = async (): Promise<boolean> => {
      samples = await prometheus.query(expr);
      return samples.some(({ value }) => Number.isFinite(value));
    };
    await expect.poll(hasData, { message: `data of ${expr}`, timeout: 40_000 }).toBe(true);
    return samples;
  }

  it('scrapes both', async () => {
    const isUp = async () => (await prometheus.query('up')).map(({ value }) => value);
    await expect.poll(isUp, { timeout: 30_000 }).toEqual([1, 1]);
    const [workers] = await dataOf('slipway_workers == 2');
    expect(workers?.labels.instance).toBe(instances[1]?.instance);
  });

  it.each(dashboardQueries())('has data of the dashboard’s $name', async ({ expr }) => {
    const asked = expr.replaceAll('$__rate_interval', '20s').replaceAll('$app', '.*');
    expect(asked).not.toContain('$');
    await dataOf(asked);
  });

  it('every alert is asked below', () => {
    const asked = [...Object.keys(RELAXED), ...Object.keys(NEEDS_OUTAGE)];
    expect(asked.sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  });

  it.each(alerts.filter(({ alert }) => alert in RELAXED))(
    'has the series of $alert, of every service',
    async (alert) => {
      const expr = relax(alert, RELAXED[alert.alert] ?? []);
      const found = async () => {
        const samples = await prometheus.query(expr);
        const counted = samples.filter(({ value }) => Number.isFinite(value));
        return [...new Set(counted.map(({ labels }) => labels.instance))].sort();
      };
      await expect.poll(found, { timeout: 40_000 }).toEqual(instancesOf(alert).sort());
    },
  );

  /** What the label `instance` of an alert can be. */
  function instancesOf({ alert }: Alert): (string | undefined)[] {
    const [one, withWorkers] = instances.map(({ instance }) => instance);
    if (alert === 'SlipwayWorkersMissing') return [withWorkers];
    // They are about a version or a channel, whichever service says it.
    const isOfAll = [
      'SlipwayDownloadsMissing',
      'SlipwayVisitorsWithoutRelease',
      'SlipwayCatalogNearlyFull',
      'SlipwayDraftWaits',
      'SlipwayTrustExpires',
    ].includes(alert);
    return isOfAll ? [undefined] : [one, withWorkers];
  }

  it('evaluates every alert without an error, and none fires', async () => {
    const readRules = async () => {
      const { groups } = (await prometheus.read('rules')) as {
        groups: { rules: { name: string; health: string; lastError?: string; state: string }[] }[];
      };
      return groups.flatMap(({ rules }) => rules);
    };
    const healths = async () =>
      (await readRules()).map(
        ({ name, health, lastError = '' }) => `${name} ${health}${lastError}`,
      );
    const expected = alerts.map(({ alert }) => `${alert} ok`).sort();
    await expect.poll(async () => (await healths()).sort()).toEqual(expected);
    const firing = (await readRules()).filter(({ state }) => state === 'firing');
    expect(firing.map(({ name }) => name)).toEqual([]);
  });

  it('adds up the checks that the workers of a service answered', async () => {
    await traffic.stop();
    for (const { instance } of instances) {
      const expr = `sum(slipway_checks_total{instance="${instance}", version="other"})`;
      await expect
        .poll(async () => (await prometheus.query(expr))[0]?.value, { timeout: 20_000 })
        .toBe(traffic.checks);
    }
  });

  it('has the series of an alert about a failing store when the store fails', async () => {
    // A file in the place of the directory: the volume is there, and answers with errors.
    await rename(path.join(data, 'objects'), path.join(data, 'moved'));
    await writeFile(path.join(data, 'objects'), '');
    const alert = alerts.find(({ alert }) => alert in NEEDS_OUTAGE) as Alert;
    const samples = await dataOf(relax(alert, NEEDS_OUTAGE.SlipwayStoreFailing));
    expect(Object.keys(samples[0]?.labels ?? {}).sort()).toEqual(['instance', 'job', 'operation']);
    await dataOf('slipway_catalog_problems > 0');
  });
});
