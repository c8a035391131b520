import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import type { Randomness } from '../../src/core/clock.ts';
import { systemClock } from '../../src/core/system.ts';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createSeededRandomness } from '../support/clock.ts';
import { rounds } from '../support/rounds.ts';
import { observe } from './observer.ts';
import { type Child, startCli } from './run-child.ts';

/** Kills the command line many times while it publishes. */

export interface KillDeps {
  readonly name: string;
  readonly store: ObjectStore;
  readonly env: Readonly<Record<string, string>>;
  /** The directory for the builds to publish. */
  readonly directory: string;
  /** Kills the child at a random moment. Resolves when it will not kill it any more. */
  kill(child: Child, randomness: Randomness): Promise<void>;
  /** Measures two undisturbed publishes, the first ones to this store. */
  learn(publish: () => Promise<Child>): Promise<void>;
}

/** The first size needs a multipart upload in two parts; the others need one request. */
const SIZES = [9 * 1024 * 1024, 300 * 1024, 300 * 1024];
/** Older versions are retired, so that `observe` stays quick. */
const VERSIONS_KEPT = 2;
/** Then another application follows, because `observe` reads all revisions of an application. */
const VERSIONS_PER_APPLICATION = 25;

/** A failure prints its seed: `SOAK_SEED=…` repeats it. */
export const KILLS = {
  kills: rounds(6, 1_000),
  minutesMax: rounds(3, 120),
  seed: Number(process.env.SOAK_SEED ?? 1_597_463_007),
};

export async function killPublishes(deps: KillDeps): Promise<void> {
  const { store, env, name } = deps;
  const { kills, minutesMax, seed } = KILLS;
  const endsAt = Date.now() + minutesMax * 60_000;
  const randomness = createSeededRandomness(seed);
  const bytes = createNoise(seed, Math.max(...SIZES));
  const counts = { killed: 0, attempts: 0, old: 0, new: 0, torn: 0, lost: 0, completed: 0 };

  let builds = 0;
  const startPublish = async (application: string, version: string, size: number) => {
    const build = path.join(deps.directory, `${application}-${version}.exe`);
    // Makes every build different.
    bytes.writeUInt32BE(builds++, 0);
    await writeFile(build, bytes.subarray(0, size));
    const file = `${build},os=windows,arch=x64,format=nsis,name=App-Setup.exe`;
    return () =>
      startCli(['publish', version, file, '--app', application, '--create', '--json'], env);
  };
  const publishUndisturbed = async (start: () => Child, repeat: string) => {
    const { code, stderr } = await start().finished;
    expect(code, `${repeat}\n${stderr}`).toBe(0);
  };

  let learned = 0;
  await deps.learn(async () => {
    const start = await startPublish('learn', `1.0.${learned++}`, SIZES[0] ?? 0);
    return start();
  });
  let application = '';
  let acknowledged: string[] = [];
  let revision = 0;
  while (counts.killed < kills && counts.attempts < kills * 3 && Date.now() < endsAt) {
    const turn = counts.attempts++;
    if (turn % VERSIONS_PER_APPLICATION === 0) {
      application = `kill-${turn}`;
      acknowledged = [];
      revision = 0;
    }
    const version = `1.0.${turn}`;
    const repeat = `${name}, seed ${seed}, attempt ${turn}`;
    const start = await startPublish(application, version, SIZES[turn % SIZES.length] ?? 0);
    const child = start();
    const [{ signal, code, stderr }] = await Promise.all([
      child.finished,
      deps.kill(child, randomness),
    ]);
    if (signal === 'SIGKILL') counts.killed += 1;
    else expect(code, `${repeat}\n${stderr}`).toBe(0);

    const left = await observe(store, application);
    const isOld = left.revision === revision;
    // A publish that ended before the signal was acknowledged, so it must be visible.
    if (code === 0) expect(isOld, repeat).toBe(false);
    counts[isOld ? 'old' : 'new'] += 1;
    counts.torn += left.torn.length;
    const visible = isOld ? acknowledged : [...acknowledged, version];
    expect(left.torn, repeat).toEqual([]);
    expect([...left.offers.keys()].sort(), repeat).toEqual(visible.map(stable).sort());

    await publishUndisturbed(start, repeat);
    counts.completed += 1;
    acknowledged.push(version);
    const completed = await observe(store, application);
    counts.lost += acknowledged.filter((v) => !completed.offers.has(stable(v))).length;
    expect(completed.torn, repeat).toEqual([]);
    expect([...completed.offers.keys()].sort(), repeat).toEqual(acknowledged.map(stable).sort());
    revision = completed.revision;
    await retire(acknowledged.splice(0, acknowledged.length - VERSIONS_KEPT));
  }

  async function retire(versions: readonly string[]): Promise<void> {
    const deps = { store, clock: systemClock, randomness, actor: 'test' };
    for (const version of versions) {
      const request = { application, version, channel: undefined, reason: null };
      ({ revision } = await changeStatus(deps, 'retire', request));
    }
  }

  console.log(
    `killed publishes, ${name}: ${counts.killed} times kill -9 in ${counts.attempts} publishes (seed ${seed}; ${counts.old} left the old state, ${counts.new} the new one), ${counts.torn} torn states, ${counts.lost} acknowledged changes lost, ${counts.completed} re-runs completed`,
  );
  expect(counts).toMatchObject({ torn: 0, lost: 0, completed: counts.attempts });
  expect(counts.killed, 'how many kills hit a running process').toBeGreaterThanOrEqual(
    Date.now() < endsAt ? kills : 1,
  );
}

function stable(version: string): string {
  return `stable ${version}`;
}

/** Pseudo-random bytes, which no store can compress. */
function createNoise(seed: number, size: number): Buffer {
  const { fraction } = createSeededRandomness(seed);
  const bytes = Buffer.alloc(size);
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32BE(fraction() * 0xffffffff, at);
  return bytes;
}
