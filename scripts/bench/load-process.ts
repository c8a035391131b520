import type { EventEmitter } from 'node:events';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from './child.ts';

/** The client side of the benches of check-update: equal POST requests from a process of its own. */

const CONNECTIONS = 10;
const CONNECTIONS_PACED = 64;

type Autocannon = (options: object) => EventEmitter & PromiseLike<unknown>;
const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;

answerParent({
  send: ({ url, body, requests }) => sendLoad(String(url), String(body), Number(requests)),
  pace: ({ url, body, requests, rate }) =>
    sendPaced(String(url), String(body), Number(requests), Number(rate)),
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

/**
 * Sends so many requests a second, whether or not the ones before were answered.
 *
 * @returns milliseconds of each, from when it was due: a server that stalls delays all that come meanwhile
 * @throws when one of them was not answered with success
 */
async function sendPaced(
  url: string,
  body: string,
  requests: number,
  rate: number,
): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_PACED });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const sendOne = (due: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve(performance.now() - due);
          else reject(new Error(`${url} answered with ${response.statusCode}.`));
        });
      });
      sent.on('error', reject).end(body);
    });
  const started = performance.now();
  const times: Promise<number>[] = [];
  while (times.length < requests) {
    const due = started + (times.length * 1000) / rate;
    if (due <= performance.now()) times.push(sendOne(due));
    else await sleep(1);
  }
  return Promise.all(times).finally(() => agent.destroy());
}
