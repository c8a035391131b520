import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { answerParent } from './child.ts';

/** The client side of the check-update bench: equal POST requests from a process of its own. */

const CONNECTIONS = 10;

type Autocannon = (options: object) => EventEmitter & PromiseLike<unknown>;
const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;

answerParent({
  send: ({ url, body, requests }) => sendLoad(String(url), String(body), Number(requests)),
});

/**
 * Sends so many requests, each connection the next one when the last was answered.
 *
 * @returns requests a second; timed here, since autocannon's own result counts in whole seconds
 * @throws when one of them was not answered with success
 */
async function sendLoad(url: string, body: string, requests: number): Promise<number> {
  const started = performance.now();
  let succeeded = 0;
  const run = autocannon({
    url,
    body,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    connections: CONNECTIONS,
    amount: requests,
  });
  let answered = 0;
  await new Promise<void>((resolve, reject) => {
    run.on('response', (_client: unknown, status: number) => {
      if (status === 200) succeeded++;
      // Its own promise would wait for the next whole second.
      if (++answered === requests) resolve();
    });
    run.then(() => resolve(), reject);
  });
  const ended = performance.now();
  if (succeeded !== requests) {
    throw new Error(`Of ${requests} requests to ${url} only ${succeeded} succeeded.`);
  }
  return (requests * 1000) / (ended - started);
}
