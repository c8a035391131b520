import { describe, expect, it } from 'vitest';
import {
  dashboardQueries,
  metricsIn,
  readAlerts,
  readAlertTests,
  readDashboard,
  readPrometheusConfig,
  readProvisioning,
  readText,
} from './monitoring-files.ts';

/** The files for Prometheus and Grafana agree with each other and with the documents. */

const alerts = readAlerts();
const MONITORING = readText('docs/operations/monitoring.md');
const RUNBOOK = readText('docs/operations/alerts.md');

/** The text of a section, without its heading; undefined when there is none. */
function sectionOf(page: string, heading: string): string | undefined {
  const sections = page.split(/^## /m).slice(1);
  return sections.find((section) => section.startsWith(`${heading}\n`))?.slice(heading.length);
}

describe('the alerts', () => {
  it('have different names', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(names.length).toBeGreaterThan(10);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(alerts)('$alert says what to do, in the section that it names', (alert) => {
    const anchor = alert.alert.toLowerCase();
    expect(alert.annotations.runbook).toBe(`docs/operations/alerts.md#${anchor}`);
    const section = sectionOf(RUNBOOK, alert.alert);
    const parts = [...`${section}`.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, part]) => part);
    expect(parts).toEqual(['Meaning.', 'Check.', 'Do.']);
  });

  it.each(alerts)('$alert is tested: it fires, and it does not', ({ alert }) => {
    const count = readAlertTests().get(alert);
    expect(count?.fires).toBeGreaterThan(0);
    expect(count?.isSilent).toBeGreaterThan(0);
  });

  it.each(alerts)('$alert waits for longer than the ranges of its rates', (alert) => {
    // Otherwise a replaced worker, with which a sum of counters falls, would fire it.
    const ranges = [...alert.expr.matchAll(/\b(?:rate|increase)\([^[]*\[(\d+)m\]/g)];
    for (const [, minutes] of ranges) {
      expect(Number(alert.for.replace(/m$/, ''))).toBeGreaterThan(Number(minutes));
    }
  });

  it('of removed names have no section and no test', () => {
    const names = alerts.map(({ alert }) => alert);
    const sections = [...RUNBOOK.matchAll(/^## (Slipway\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(names);
    expect([...readAlertTests().keys()].sort()).toEqual([...names].sort());
  });
});

describe('the metrics', () => {
  const queries = [
    ...alerts.map(({ alert, expr }) => ({ name: alert, expr })),
    ...dashboardQueries(),
  ];

  it.each(queries)('of $name are explained', ({ expr }) => {
    const metrics = metricsIn(expr);
    if (!expr.startsWith('up{')) expect(metrics).not.toEqual([]);
    expect(metrics.filter((metric) => !MONITORING.includes(`\`${metric}\``))).toEqual([]);
  });
});

describe('the configuration of Prometheus', () => {
  it('scrapes the job that the alerts name', () => {
    const [{ job_name, static_configs }] = readPrometheusConfig().scrape_configs;
    expect(static_configs[0].targets).toEqual(['slipway:9464']);
    const named = alerts.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)]);
    expect(named.length).toBeGreaterThan(0);
    for (const [, job] of named) expect(job).toBe(job_name);
  });
});

describe('the dashboard', () => {
  const { panels, templating } = readDashboard();

  it('has the rows that an operator looks for', () => {
    const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows).toEqual([
      'Fleet',
      'Rollouts',
      'Requests and errors',
      'Catalog',
      'Store',
      'Processes',
    ]);
    expect(panels[0]?.type).toBe('row');
  });

  it('has panels with an id of their own, which do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.get(`${x} ${y}`), `${title} is over this panel`).toBeUndefined();
          taken.set(`${x} ${y}`, title);
        }
      }
    }
  });

  it('has different names for the queries of a panel', () => {
    for (const panel of panels) {
      if (panel.type === 'row') continue;
      const ids = panel.targets.map(({ refId }) => refId);
      expect(new Set(ids).size, panel.title).toBe(ids.length);
    }
  });

  it('uses the variables that it defines, and Grafana’s', () => {
    const defined = templating.list.map(({ name }) => name);
    expect(defined).toEqual(['datasource', 'app']);
    const used = dashboardQueries().flatMap(({ expr }) =>
      [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name),
    );
    expect([...new Set(used)].sort()).toEqual(['__rate_interval', 'app']);
  });
});

describe('what Grafana loads at its start', () => {
  it('is the data source that the compose file names prometheus', () => {
    expect(readProvisioning('datasources/prometheus.yml')).toMatchObject({
      apiVersion: 1,
      datasources: [
        {
          type: 'prometheus',
          access: 'proxy',
          url: 'http://prometheus:9090',
          isDefault: true,
          jsonData: { timeInterval: readPrometheusConfig().global.scrape_interval },
        },
      ],
    });
  });

  it('is the folder into which the compose file puts the dashboard', () => {
    expect(readProvisioning('dashboards/slipway.yml')).toMatchObject({
      apiVersion: 1,
      providers: [{ type: 'file', options: { path: '/var/lib/grafana/dashboards' } }],
    });
  });
});
