import path from 'node:path';
import { afterAll, it } from 'vitest';
import { createFixedClock } from '../support/clock.ts';
import { openDirectoryStore } from '../support/directory-store.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { createLyingStore, runLies } from './lies.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

it('commands on a directory with one wrong answer each lose no acknowledged change', async () => {
  const direct = await openDirectoryStore(path.join(temporary.path, 'objects'));
  const lying = createLyingStore(direct);
  const clock = { ...createFixedClock(), now: Date.now };
  await runLies({
    lying,
    direct,
    clock,
    directory: temporary.path,
    rounds: rounds(40, 1_000),
    seed: 8_251,
  });
}, 600_000);
