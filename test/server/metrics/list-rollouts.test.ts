import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../src/core/steps.ts';
import { createRolloutLister } from '../../../src/server/metrics/list-rollouts.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { release, setStatus } from '../support.ts';

const HOUR_MS = 3_600_000;
const MACHINES = ['windows x64 nsis'];
const rollout = (text: string) => ({ rollout: { text, freezeWindows: [] } });

describe('the offers that not every client gets', () => {
  let service: TestService;
  let clock: ReturnType<typeof createHastyClock>;
  let list: ReturnType<typeof createRolloutLister>;
  beforeEach(async () => {
    clock = createHastyClock();
    service = await createTestService({ clock });
    list = createRolloutLister({ catalog: service.app.catalog, clock });
  });
  afterEach(() => service.close());

  const listed = () =>
    runAtOnce(list()).map(
      ({ application, channel, version, status, share }) =>
        `${application} ${channel} ${version} ${status} ${share / 100}%`,
    );

  it('are those with a rollout under way and paused ones, newest first', async () => {
    await release(service, '1.0.0', MACHINES);
    await release(service, '1.1.0', MACHINES, rollout('25%'));
    await release(service, '1.2.0', MACHINES);
    await release(service, '1.3.0', MACHINES, rollout('0.5%'));
    await setStatus(service, 'pause', '1.2.0');
    await setStatus(service, 'pause', '1.1.0');
    expect(listed()).toEqual([
      'desktop stable 1.3.0 active 0.5%',
      'desktop stable 1.2.0 paused 100%',
      'desktop stable 1.1.0 paused 25%',
    ]);
    await setStatus(service, 'yank', '1.3.0');
    await setStatus(service, 'resume', '1.2.0');
    expect(listed()).toEqual(['desktop stable 1.1.0 paused 25%']);
  });

  it('change with the time, without another revision', async () => {
    await release(service, '1.0.0', MACHINES, rollout('5%@0h,50%@6h,100%@48h'));
    expect(listed()).toEqual(['desktop stable 1.0.0 active 5%']);
    clock.advance(6 * HOUR_MS);
    expect(listed()).toEqual(['desktop stable 1.0.0 active 50%']);
    clock.advance(42 * HOUR_MS);
    // The catalog in memory was confirmed two days ago and must not be used any more.
    await service.refresh();
    expect(listed()).toEqual([]);
  });

  it('belong to their own channel and application', async () => {
    await release(service, '1.0.0', MACHINES, rollout('10%'));
    await release(service, '2.0.0', MACHINES, { ...rollout('20%'), channel: 'beta' });
    await release(service, '1.0.0', MACHINES, { ...rollout('30%'), application: 'another' });
    expect(listed().sort()).toEqual([
      'another stable 1.0.0 active 30%',
      'desktop beta 2.0.0 active 20%',
      'desktop stable 1.0.0 active 10%',
    ]);
  });

  it('are at most ten of a channel, the newest', async () => {
    for (let minor = 1; minor <= 12; minor++) {
      await release(service, `1.${minor}.0`, MACHINES, rollout('10%'));
    }
    const versions = runAtOnce(list()).map(({ version }) => version);
    expect(versions).toHaveLength(10);
    expect(versions[0]).toBe('1.12.0');
    expect(versions).not.toContain('1.2.0');
  });

  it('are none of an application whose catalog cannot be used', async () => {
    await release(service, '1.0.0', MACHINES, rollout('10%'));
    clock.advance(25 * HOUR_MS);
    expect(listed()).toEqual([]);
  });
});
