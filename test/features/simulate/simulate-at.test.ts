import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, slipway } from '../../cli/support.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

describe('slipway simulate --at', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  const run = (words: readonly string[]) =>
    slipway(['simulate', ...words], { cwd: directory.path });
  const file = (name: string) => path.join(directory.path, name);

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    await writeFile(file('App.exe'), 'bytes');
    const artifact = 'App.exe,os=windows,arch=x64,format=nsis';
    const publish = async (version: string, ...words: string[]) => {
      const { code, stderr } = await slipway(['publish', version, artifact, '--create', ...words], {
        cwd: directory.path,
      });
      expect([code, stderr]).toEqual([0, '']);
    };
    await publish('1.0.0');
    await publish('1.1.0');
    await publish('1.2.0', '--rollout', '5%@0h,50%@6h,100%@24h');
  });
  afterAll(() => directory.remove());

  it('simulates an older revision', async () => {
    const { present, times, ...state } = json(await run(['--at', '2', '--fleet', '100', '--json']));
    expect(state).toMatchObject({ catalog_revision: 2, is_forecast: false });
    expect([state.at, times[0]]).toEqual([state.revision_at, state.revision_at]);
    expect(present.versions[0].version).toBe('1.1.0');
    const { stdout } = await run(['--at', '2', '--fleet', '100']);
    expect(stdout).toMatch(/^The state at \S+ \S+Z, from catalog revision 2 of \S+ \S+Z\.\n/);
    expect(stdout).toMatch(/^VERSION +INSTALLED +AT START$/m);
    expect(stdout).not.toMatch(/\bnow\b|forecast/i);
  });

  it('says that a time in the future is a forecast, also on the picture', async () => {
    const soon = new Date(Math.floor(Date.now() / 1000) * 1000 + 10 * 3_600_000).toISOString();
    const words = ['--at', soon, '--fleet', '100'];
    const { stdout } = await run([...words, '--svg', 'forecast.svg']);
    const text = soon.replace('T', ' ').replace('.000Z', 'Z');
    expect(stdout).toMatch(
      /^The state at .*, from catalog revision 3 of .*\. This is a forecast: rollouts go on as planned/,
    );
    expect(stdout.split('\n')[0]).toContain(`The state at ${text}, `);
    expect(stdout).toMatch(/^VERSION +INSTALLED +AT START +\+1[34]h/m);
    expect(await readFile(file('forecast.svg'), 'utf8')).toContain(
      `in the state at ${text}, a forecast`,
    );
    await rm(file('forecast.svg'));
    const forecast = json(await run([...words, '--json']));
    expect(forecast).toMatchObject({ catalog_revision: 3, is_forecast: true, at: soon });
    expect(forecast.times[0]).toBe(soon);
  });

  it('names revisions that cannot be read', async () => {
    const { revision_at: past } = json(await run(['--at', '3', '--fleet', '100', '--json']));
    const stored = file('data/objects/apps/desktop/catalog/0000000003.json');
    const sound = await readFile(stored);
    await rm(stored);
    await writeFile(stored, 'corrupt');
    try {
      const { stdout } = await run(['--at', past, '--fleet', '100']);
      expect(stdout).toMatch(
        /, from catalog revision 2 of .*\.\nRevision 3 cannot be read, and may/,
      );
      const { unreadable_revisions: unreadable } = json(
        await run(['--at', past, '--fleet', '100', '--json']),
      );
      expect(unreadable).toEqual([3]);
    } finally {
      await rm(stored);
      await writeFile(stored, sound);
    }
  });
});
