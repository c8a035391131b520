import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** The files that an operator gives to Prometheus and Grafana, read and checked. */

const ROOT = path.join(import.meta.dirname, '../..');

export const PROMETHEUS_CONFIG = path.join(ROOT, 'deploy/prometheus/prometheus.yml');
export const ALERT_RULES = path.join(ROOT, 'deploy/prometheus/alerts.yml');
export const ALERT_TESTS = path.join(ROOT, 'test/deploy/alert-rules.yml');

export const readText = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const readYaml = (file: string): unknown => parse(readFileSync(file, 'utf8'));

const alertSchema = z.strictObject({
  alert: z.string().regex(/^Slipway[A-Z]\w+$/),
  expr: z.string(),
  for: z.string(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.strictObject({
    summary: z.string(),
    description: z.string(),
    runbook: z.string(),
  }),
});
const rulesSchema = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alertSchema) })),
});

export type Alert = z.output<typeof alertSchema>;

export function readAlerts(): readonly Alert[] {
  return rulesSchema.parse(readYaml(ALERT_RULES)).groups.flatMap(({ rules }) => rules);
}

const alertTestsSchema = z.looseObject({
  tests: z.array(
    z.looseObject({
      alert_rule_test: z.array(
        z.strictObject({
          alertname: z.string(),
          eval_time: z.string(),
          exp_alerts: z.array(z.looseObject({})),
        }),
      ),
    }),
  ),
});

/** How many tests of each alert expect that it fires, and how many that it does not. */
export function readAlertTests(): ReadonlyMap<string, { fires: number; isSilent: number }> {
  const counts = new Map<string, { fires: number; isSilent: number }>();
  const { tests } = alertTestsSchema.parse(readYaml(ALERT_TESTS));
  for (const { alertname, exp_alerts } of tests.flatMap((test) => test.alert_rule_test)) {
    const count = counts.get(alertname) ?? { fires: 0, isSilent: 0 };
    count[exp_alerts.length > 0 ? 'fires' : 'isSilent'] += 1;
    counts.set(alertname, count);
  }
  return counts;
}

const prometheusSchema = z.strictObject({
  global: z.strictObject({ scrape_interval: z.string(), evaluation_interval: z.string() }),
  rule_files: z.tuple([z.literal('alerts.yml')]),
  scrape_configs: z.tuple([
    z.strictObject({
      job_name: z.literal('slipway'),
      static_configs: z.tuple([z.strictObject({ targets: z.array(z.string()) })]),
    }),
  ]),
});

export function readPrometheusConfig() {
  return prometheusSchema.parse(readYaml(PROMETHEUS_CONFIG));
}

const dataSource = z.strictObject({
  type: z.literal('prometheus'),
  uid: z.literal(`\${datasource}`),
});
const gridPos = z.strictObject({
  h: z.int().positive(),
  w: z.int().positive().max(24),
  x: z.int().nonnegative(),
  y: z.int().nonnegative(),
});
const target = z.strictObject({
  refId: z.string().length(1),
  datasource: dataSource,
  expr: z.string(),
  legendFormat: z.string(),
  range: z.literal(true),
  instant: z.literal(false),
});
const panel = z.strictObject({
  id: z.int().positive(),
  type: z.enum(['timeseries', 'stat']),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource: dataSource,
  gridPos,
  fieldConfig: z.strictObject({
    defaults: z.looseObject({ unit: z.string() }),
    overrides: z.array(z.never()),
  }),
  options: z.looseObject({}),
  targets: z.array(target).min(1),
});
const row = z.strictObject({
  id: z.int().positive(),
  type: z.literal('row'),
  title: z.string().min(1),
  collapsed: z.literal(false),
  gridPos,
  panels: z.array(z.never()),
});
/** Grafana's classic dashboard model, as far as this dashboard uses it. */
const dashboardSchema = z.strictObject({
  uid: z.string().min(8).max(40),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  timezone: z.literal('browser'),
  editable: z.boolean(),
  graphTooltip: z.literal([0, 1, 2]),
  schemaVersion: z.literal(39),
  version: z.int(),
  refresh: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  annotations: z.strictObject({ list: z.array(z.never()) }),
  links: z.array(z.never()),
  templating: z.strictObject({
    list: z.array(
      z.looseObject({
        name: z.string(),
        type: z.enum(['datasource', 'query']),
        query: z.string(),
        datasource: dataSource.optional(),
      }),
    ),
  }),
  panels: z.array(z.discriminatedUnion('type', [panel, row])),
});

export function readDashboard() {
  return dashboardSchema.parse(JSON.parse(readText('deploy/grafana/dashboard.json')));
}

/** Each query of the dashboard, named after its panel. */
export function dashboardQueries(): readonly { readonly name: string; readonly expr: string }[] {
  return readDashboard().panels.flatMap((each) =>
    each.type === 'row'
      ? []
      : each.targets.map(({ refId, expr }) => ({ name: `${each.title} ${refId}`, expr })),
  );
}

export const readProvisioning = (file: string): unknown =>
  readYaml(path.join(ROOT, 'deploy/grafana/provisioning', file));

/** The names of metrics in an expression, without the endings of a histogram's series. */
export function metricsIn(expr: string): readonly string[] {
  const code = expr.replace(/"[^"]*"/g, '""');
  const names = [...code.matchAll(/\b(?:slipway|process|nodejs)_\w+/g)].map(([name]) =>
    name.replace(/_(?:bucket|count|sum)$/, ''),
  );
  return [...new Set(names)];
}
