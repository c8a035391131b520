import path from 'node:path';
import { afterAll, it } from 'vitest';
import { openFilesystemStore } from '../../src/object-store/filesystem.ts';
import { createFixedClock } from '../support/clock.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { createLyingStore, runLies } from './lies.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

it('1,000 commands on a directory with one wrong answer each lose nothing', async () => {
  const directory = path.join(temporary.path, 'objects');
  const signUrl = () => {
    throw new Error('not used');
  };
  const direct = await openFilesystemStore({ directory, signUrl });
  const lying = createLyingStore(direct);
  const clock = { ...createFixedClock(), now: Date.now };
  await runLies({ lying, direct, clock, directory: temporary.path, rounds: 1_000, seed: 8_251 });
}, 600_000);
