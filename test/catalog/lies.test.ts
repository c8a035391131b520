import { afterAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/catalog/live/catalog.ts';
import { isAppError } from '../../src/core/errors.ts';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import { createLyingStore } from '../reliability/lies.ts';
import { createSeededRandomness } from '../support/clock.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { createWorld, offered, problemsOf } from './live/live-catalog.ts';

/** Services that a store, or what is before it, answers wrongly once. */

const ROUNDS = rounds(20, 400);
const RECOVERED_WITHIN_MS = 10_000;
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });

/** A version, a reason, or the code of an error. */
const answer = (catalog: Catalog): Promise<string> =>
  offered(catalog).catch((error: unknown) =>
    isAppError(error) ? error.code : Promise.reject(error),
  );

async function setUp() {
  const world = createWorld();
  for (const version of ['1.0.0', '2.0.0']) {
    await publish(world.parts, { version, artifacts: [setup] });
  }
  const yank = { application: 'desktop', version: '2.0.0', channel: undefined, reason: 'crashes' };
  await changeStatus({ ...world.parts, actor: 'test' }, 'yank', yank);
  return { world, lying: createLyingStore(world.memory) };
}

describe('one wrong answer', () => {
  it(`at a cold start: right or 503 at once, right within ten seconds, ${ROUNDS} times`, async () => {
    const { fraction } = createSeededRandomness(20_261_123);
    const seen = new Map<string, number>();
    for (let round = 1; round <= ROUNDS; round++) {
      const { world, lying } = await setUp();
      lying.lieAt(1 + Math.floor(fraction() * 12), fraction);
      const catalog = world.open({ store: lying.store });
      await catalog.start();
      const what = `round ${round}, ${lying.told()}`;
      const first = await answer(catalog);
      seen.set(first, (seen.get(first) ?? 0) + 1);
      expect(['1.0.0', 'catalog_unavailable'], what).toContain(first);
      await world.clock.advance(RECOVERED_WITHIN_MS);
      expect(await answer(catalog), what).toBe('1.0.0');
      expect(problemsOf(catalog), what).toBe('');
      await catalog.stop();
    }
    console.log(
      `${ROUNDS} cold starts with one wrong answer: ${[...seen].map(([first, count]) => `${count} × ${first}`).join(', ')} at once, all right within ten seconds`,
    );
  });

  it(`to a running service: right all the time, and up to date within ten seconds, ${ROUNDS} times`, async () => {
    const { fraction } = createSeededRandomness(20_261_124);
    for (let round = 1; round <= ROUNDS; round++) {
      const { world, lying } = await setUp();
      const catalog = world.open({ store: lying.store });
      await catalog.start();
      expect(await answer(catalog)).toBe('1.0.0');
      lying.lieAt(1 + Math.floor(fraction() * 10), fraction);
      await publish(world.parts, { version: '3.0.0', artifacts: [setup] });
      for (let ms = 0; ms < RECOVERED_WITHIN_MS; ms += 1_000) {
        expect(['1.0.0', '3.0.0'], `round ${round}`).toContain(await answer(catalog));
        await world.clock.advance(1_000);
      }
      expect(await answer(catalog), `round ${round}, ${lying.told()}`).toBe('3.0.0');
      expect(problemsOf(catalog), `round ${round}, ${lying.told()}`).toBe('');
      await catalog.stop();
    }
  });
});
