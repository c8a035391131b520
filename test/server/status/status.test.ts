import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/core/errors.ts';
import type {
  ComponentSource,
  ProbedComponent,
  ReadComponents,
} from '../../../src/server/status/components.ts';
import type { ComponentStatus, Indicator } from '../../../src/server/status/report.ts';
import { createStatus } from '../../../src/server/status/status.ts';
import { createManualClock } from '../../catalog/live/live-catalog.ts';

const START = Date.parse('2026-11-21T09:00:00Z');
const SECRET_MESSAGE = 'GET releases/probe/x at https://10.0.0.7:9000 failed: key AKIA123.';

function open(...components: ComponentSource[]) {
  const clock = createManualClock(START);
  const log: { level: string; facts: Record<string, unknown> }[] = [];
  const write = (level: string) => (facts: object) =>
    void log.push({ level, facts: facts as Record<string, unknown> });
  const status = createStatus({
    clock,
    randomness: { fraction: () => 0.5, id: () => 'unused' },
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    components,
  });
  const component = (id: string) => status.report().components.find((one) => one.id === id);
  const changes = () => log.map(({ level, facts }) => `${level} ${facts.from} ${facts.to}`);
  return { clock, status, log, component, changes };
}

/** A component whose probe does what a test says, and counts. */
function probed(options: Partial<ProbedComponent> = {}) {
  const plan = { run: async (_signal: AbortSignal): Promise<void> => undefined, calls: 0 };
  const component: ProbedComponent = {
    kind: 'probed',
    id: 'mail',
    name: 'Mail',
    outageImpact: 'minor',
    probe: (signal) => {
      plan.calls++;
      return plan.run(signal);
    },
    ...options,
  };
  return { plan, component };
}

describe('a probed component', () => {
  it('counts as operational before the first check, and its sentence states that', () => {
    const { component, status } = open(probed().component);
    expect(component('mail')).toEqual({
      id: 'mail',
      name: 'Mail',
      status: 'operational',
      description: 'Not checked yet.',
      updatedAt: START,
      checkedAt: null,
    });
    expect(status.report().indicator).toBe('none');
  });

  it('is probed at once and every 30 s, independently of requests for the report', async () => {
    const { plan, component: mail } = probed();
    const { clock, status, component } = open(mail);
    status.start();
    status.start();
    await clock.advance(0);
    expect(plan.calls).toBe(1);
    for (let turn = 0; turn < 100; turn++) status.report();
    await clock.advance(29_000);
    expect(plan.calls).toBe(1);
    await clock.advance(1_000);
    expect(plan.calls).toBe(2);
    expect(component('mail')).toMatchObject({
      status: 'operational',
      description: 'Answers.',
      checkedAt: START + 30_000,
      updatedAt: START,
    });
    await status.stop();
    await clock.advance(300_000);
    expect(plan.calls).toBe(2);
  });

  it('jitters by a fifth', async () => {
    for (const [fraction, dueMs] of [
      [0, 24_000],
      [0.999, 35_988],
    ] as const) {
      const { plan, component } = probed();
      const clock = createManualClock(START);
      const silent = { info: () => {}, warn: () => {}, error: () => {} };
      const randomness = { fraction: () => fraction, id: () => 'unused' };
      const status = createStatus({ clock, randomness, log: silent, components: [component] });
      status.start();
      await clock.advance(0);
      await clock.advance(dueMs - 10);
      expect(plan.calls).toBe(1);
      await clock.advance(20);
      expect(plan.calls).toBe(2);
      await status.stop();
    }
  });

  it('is out at the first failure, is probed every 3 s from then on, and recovers at once', async () => {
    const { plan, component: mail } = probed();
    const { clock, status, component, changes, log } = open(mail);
    plan.run = async () => {
      throw new AppError('store_unavailable', SECRET_MESSAGE);
    };
    status.start();
    await clock.advance(0);
    await clock.advance(600_000);
    expect(plan.calls).toBe(21 + 200);
    expect(component('mail')).toMatchObject({
      status: 'major_outage',
      description: 'Does not answer.',
      updatedAt: START,
      checkedAt: START + 600_000,
    });
    expect(status.report().indicator).toBe('minor');
    expect(changes()).toEqual(['warn operational major_outage']);
    // The reason is in the log, and nowhere else.
    expect(String(log[0]?.facts.err)).toContain('10.0.0.7');
    expect(JSON.stringify(status.report())).not.toMatch(/10\.0\.0\.7|AKIA|releases/);
    plan.run = async () => undefined;
    await clock.advance(3_000);
    expect(component('mail')).toMatchObject({ status: 'operational', updatedAt: START + 603_000 });
    expect(status.report().indicator).toBe('none');
    expect(changes()).toEqual(['warn operational major_outage', 'info major_outage operational']);
    await status.stop();
  });

  it.each<[string, Error]>([
    ['Does not answer.', new AppError('upstream_unavailable', SECRET_MESSAGE)],
    ['Refuses this service', new AppError('store_denied', SECRET_MESSAGE)],
    ['Refuses this service', new AppError('invalid_configuration', SECRET_MESSAGE)],
    ['Does not work', new AppError('document_corrupt', SECRET_MESSAGE)],
    ['Does not work', new TypeError(SECRET_MESSAGE)],
  ])('says %s and never the message of the error', async (sentence, error) => {
    const { plan, component: mail } = probed();
    const { clock, status, component } = open(mail);
    // Thrown, not rejected: a probe need not be an async function.
    plan.run = () => {
      throw error;
    };
    status.start();
    await clock.advance(0);
    expect(component('mail')?.status).toBe('major_outage');
    expect(component('mail')?.description).toContain(sentence);
    expect(JSON.stringify(status.report())).not.toContain('AKIA');
    await status.stop();
  });

  it('is out when its probe hangs; the probe is aborted, and stopping does not wait for it', async () => {
    const { plan, component: mail } = probed();
    const { clock, status, component } = open(mail);
    const signals: AbortSignal[] = [];
    plan.run = (signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    status.start();
    await clock.advance(0);
    await clock.advance(4_990);
    expect(component('mail')?.status).toBe('operational');
    await clock.advance(20);
    expect(component('mail')).toMatchObject({
      status: 'major_outage',
      description: 'Does not answer.',
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await clock.advance(1_000);
    expect(signals).toHaveLength(2);
    await status.stop();
    expect(signals[1]?.aborted).toBe(true);
  });

  it('is degraded when it answers slowly, and that is minor', async () => {
    const { plan, component: store } = probed({ id: 'store', outageImpact: 'major' });
    const { clock, status, component } = open(store);
    plan.run = (signal) => clock.sleep(2_001, signal);
    status.start();
    await clock.advance(0);
    await clock.advance(2_100);
    expect(component('store')).toMatchObject({
      status: 'degraded_performance',
      description: 'Answers slowly.',
    });
    expect(status.report().indicator).toBe('minor');
    plan.run = (signal) => clock.sleep(1_999, signal);
    await clock.advance(35_000);
    expect(component('store')?.status).toBe('operational');
    await status.stop();
  });

  it('does not report an outage when it is stopped during a probe', async () => {
    const { plan, component: mail } = probed();
    const { clock, status, changes, component } = open(mail);
    plan.run = (signal) => clock.sleep(4_000, signal);
    status.start();
    await clock.advance(0);
    await clock.advance(1_000);
    await status.stop();
    expect(component('mail')?.status).toBe('operational');
    expect(changes()).toEqual([]);
  });
});

describe('a real request', () => {
  it('changes a component at once, both ways, without a probe', () => {
    const { component: captcha } = probed({ id: 'captcha' });
    const { probe: _none, ...noted } = captcha;
    const { status, component, changes } = open(noted);
    status.start();
    status.noteFailure('captcha', 'The captcha service does not answer.');
    expect(component('captcha')).toMatchObject({
      status: 'major_outage',
      description: 'The captcha service does not answer.',
      checkedAt: START,
    });
    status.noteFailure('captcha', 'The captcha service does not answer.');
    status.noteSuccess('captcha');
    status.noteSuccess('captcha');
    expect(component('captcha')?.status).toBe('operational');
    expect(changes()).toEqual(['warn operational major_outage', 'info major_outage operational']);
    return status.stop();
  });

  it('is followed by the next probe, which finds the present state', async () => {
    const { component: mail } = probed();
    const { clock, status, component } = open(mail);
    status.start();
    await clock.advance(0);
    await clock.advance(1_000);
    status.noteFailure('mail', 'A mail could not be sent.');
    expect(component('mail')?.status).toBe('major_outage');
    await clock.advance(30_000);
    expect(component('mail')?.status).toBe('operational');
    await status.stop();
  });

  it('does not add a component that is not configured', () => {
    const { status, changes } = open(probed().component);
    status.noteFailure('captcha', 'Out.');
    status.noteSuccess('nothing');
    expect(status.report().components.map(({ id }) => id)).toEqual(['mail']);
    expect(changes()).toEqual([]);
  });
});

describe('a component that is read', () => {
  it('of each of many applications is logged for ten, with a count of the others', () => {
    let state: ComponentStatus = 'operational';
    const { status, changes, log } = open({
      kind: 'read',
      read: () =>
        Array.from({ length: 2_000 }, (_, index) => ({
          ...{ id: `catalog:${index}`, application: `${index}`, name: 'x', description: 'So so.' },
          ...{ status: state, impact: 'none' },
        })),
    });
    status.report();
    expect(changes()).toEqual([]);
    for (const next of ['major_outage', 'operational'] as const) {
      log.splice(0);
      state = next;
      status.report();
      status.report();
      expect(log).toHaveLength(11);
      expect(log[10]).toEqual({ level: 'info', facts: { applications: 1_990 } });
    }
  });

  function reading() {
    const state: { status: ComponentStatus; impact: Indicator; reads: number } = {
      status: 'operational',
      impact: 'none',
      reads: 0,
    };
    const source: ReadComponents = {
      kind: 'read',
      read: () => {
        state.reads++;
        return [{ id: 'catalog', name: 'Catalog', description: 'So so.', ...state }];
      },
    };
    return { state, source };
  }

  it('has its present state in every report, also before the start', () => {
    const { state, source } = reading();
    const { clock, status, component } = open(source);
    state.status = 'partial_outage';
    state.impact = 'major';
    expect(status.report()).toEqual({
      at: START,
      indicator: 'major',
      description: expect.stringMatching(/last good state/),
      components: [
        {
          id: 'catalog',
          name: 'Catalog',
          status: 'partial_outage',
          description: 'So so.',
          updatedAt: START,
          checkedAt: START,
        },
      ],
    });
    void clock.advance(5);
    expect(component('catalog')?.status).toBe('partial_outage');
  });

  it('has its changes in the log within seconds, without any request', async () => {
    const { state, source } = reading();
    const { clock, status, changes } = open(source);
    status.start();
    await clock.advance(0);
    state.status = 'major_outage';
    await clock.advance(6_000);
    state.status = 'degraded_performance';
    await clock.advance(60_000);
    expect(changes()).toEqual([
      'warn operational major_outage',
      'info major_outage degraded_performance',
    ]);
    await status.stop();
    const { reads } = state;
    await clock.advance(60_000);
    expect(state.reads).toBe(reads);
  });
});

describe('the indicator', () => {
  const read = (...impacts: Indicator[]): ReadComponents => ({
    kind: 'read',
    read: () =>
      impacts.map((impact, index) => ({
        id: `${index}`,
        name: 'x',
        status: 'operational',
        description: 'x',
        impact,
      })),
  });
  const out = (outageImpact: 'minor' | 'major') => {
    const id = `out-${outageImpact}`;
    return { id, source: { ...probed({ id, outageImpact }).component } };
  };

  it.each<[Indicator, Indicator[], ('minor' | 'major')[]]>([
    ['none', ['none', 'none'], []],
    ['minor', ['none', 'minor', 'none'], []],
    ['minor', ['none'], ['minor']],
    ['major', ['none'], ['minor', 'major']],
    ['major', ['minor', 'major'], []],
    ['critical', ['major', 'critical', 'none'], ['major']],
    ['none', [], []],
  ])('%s', (expected, impacts, outages) => {
    const failing = outages.map(out);
    const { status } = open(read(...impacts), ...failing.map(({ source }) => source));
    for (const { id } of failing) status.noteFailure(id, 'Out.');
    expect(status.report().indicator).toBe(expected);
  });
});
