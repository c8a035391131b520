import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DOCUMENT, FILE, type Proxied } from './proxied.ts';

/** Processes that end while clients ask. */
export function defineOutages(at: Proxied): void {
  const { ask } = at;

  it('a process that stops fails no GET, and neither does one that is killed', async () => {
    for (const [index, signal] of [
      [0, 'SIGTERM'],
      [1, 'SIGKILL'],
    ] as const) {
      const statuses: (number | string)[] = [];
      let isDone = false;
      const clients = Array.from({ length: 8 }, async () => {
        while (!isDone) {
          const answer = ask(DOCUMENT).then(({ status }) => status);
          statuses.push(await answer.catch((error: Error) => error.message));
        }
      });
      await sleep(500);
      at.processes[index]?.process.kill(signal);
      await at.processes[index]?.exit;
      const countAtEnd = statuses.length;
      await sleep(1_000);
      isDone = true;
      await Promise.all(clients);
      console.log(`${at.variant.name}: ${statuses.length} GETs around ${signal}`);
      expect(statuses.length).toBeGreaterThan(countAtEnd + 20);
      expect([...new Set(statuses)]).toEqual([200]);
      at.processes[index] = await at.start(index);
      // nginx leaves a process out for a second after it failed.
      await sleep(2_000);
    }
  });

  it('a download that breaks off is not completed by the proxy', async () => {
    const stale = { range: 'bytes=0-9', 'if-range': '"another file"' };
    const download = ask(FILE, { headers: stale, pauseMs: 1_500 });
    const outcome = download.then(({ body }) => `${body.length} bytes`, String);
    await sleep(1_000);
    for (const { process } of at.processes) process.kill('SIGKILL');
    expect(await outcome).toMatch(/aborted|ECONNRESET|closed/);
    await Promise.all([at.start(0), at.start(1)]);
  });
}
