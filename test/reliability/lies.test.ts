import { afterAll, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createFixedClock } from '../support/clock.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { createLyingStore, runLies } from './lies.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

it('commands with one wrong store answer each lose no acknowledged change', async () => {
  const clock = createFixedClock();
  const direct = createMemoryStore({ clock });
  const lying = createLyingStore(direct);
  await runLies({
    lying,
    direct,
    clock,
    directory: temporary.path,
    rounds: rounds(40, 1_000),
    seed: 8_250,
  });
});
