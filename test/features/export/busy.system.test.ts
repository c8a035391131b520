import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openQuestions } from '../../../src/features/export/questions.ts';
import { createScene, exportDeps, PUBLIC_URL } from './scene.ts';

const BLOCKED_MS = 400;

it('answers every question of an export on a machine that is busy', async () => {
  const scene = await createScene();
  onTestFinished(() => scene.service.close());
  await scene.release('1.0.0');
  const questions = await openQuestions(exportDeps(scene), PUBLIC_URL);
  onTestFinished(() => questions.close());
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  // Longer than the interval of the measurement, which refuses requests of clients then.
  for (let turn = 0; turn < 8; turn++) {
    const end = performance.now() + BLOCKED_MS;
    while (performance.now() < end);
    await wait(1);
    const answer = await questions.ask(['feeds', 'desktop', 'stable', 'electron', 'latest.yml']);
    expect(answer.kind).toBe('document');
  }
  expect(delay.mean / 1e6).toBeGreaterThan(250);
});
