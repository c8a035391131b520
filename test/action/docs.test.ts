import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ACTION } from '../../src/features/init/github-workflow.ts';
import { ROOT } from '../cli/support.ts';
import { readAction } from './read-action.ts';

/** The page about CI describes the action. */

const page = readFileSync(path.join(ROOT, 'docs/publishing/ci.md'), 'utf8');

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** The steps of every workflow in the page. */
const steps = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, block]): Step[] => {
  const document = parse(String(block));
  const jobs = Object.values(document.jobs ?? document) as { readonly steps?: Step[] }[];
  return jobs.flatMap((job) => job?.steps ?? []);
});

describe('the page about CI', () => {
  it('uses the action with inputs that it has, under the name that "slipway init" writes', async () => {
    const { inputs } = await readAction();
    const uses = steps.filter((step) => step.uses?.includes('slipway'));
    expect(uses.length).toBe(3);
    for (const step of uses) {
      expect(step.uses).toBe(ACTION);
      const given = Object.keys(step.with ?? {});
      expect(given.filter((name) => inputs[name] === undefined)).toEqual([]);
      expect(given).toContain('version');
    }
  });

  it('publishes with a role that one environment of one repository may use, without a secret', () => {
    const section = page.slice(page.indexOf('### No stored key'), page.indexOf('### The action'));
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
    const { permissions, jobs } = parse(yaml);
    expect(permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    expect(yaml).not.toMatch(/secrets\.|AWS_(ACCESS|SECRET)/);
    const [role, publish] = jobs.publish.steps;
    // When its owner moves a tag, the new code would run with the right to publish.
    expect(role.uses).toMatch(/^aws-actions\/configure-aws-credentials@[0-9a-f]{40}$/);
    expect(publish.env).toEqual({ OBJECT_STORE: 's3', S3_BUCKET: 'releases' });
    const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? [];
    const [{ Condition }] = JSON.parse(json).Statement;
    expect(Object.keys(Condition)).toEqual(['StringEquals']);
    const claims = 'token.actions.githubusercontent.com';
    expect(Condition.StringEquals).toEqual({
      [`${claims}:aud`]: 'sts.amazonaws.com',
      [`${claims}:sub`]: expect.stringMatching(
        new RegExp(`^repo:[^*]+/[^*]+:environment:${jobs.publish.environment}$`),
      ),
    });
  });

  it('lists every input and output', async () => {
    const { inputs, outputs } = await readAction();
    const rows = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) =>
      [...String(cell).matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
    );
    expect(rows.sort()).toEqual([...Object.keys(inputs), ...Object.keys(outputs)].sort());
  });
});
