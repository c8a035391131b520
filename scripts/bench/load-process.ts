import type { EventEmitter } from 'node:events';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from './child.ts';

/** The client side of the check-update benchmarks: sends equal POST requests from its own process. */

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
 * Sends `requests` requests; each connection sends the next one after the answer to the last.
 *
 * @returns requests a second, timed here because autocannon's own result has whole seconds
 * @throws when the status of any answer is not 200
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
      // autocannon's promise resolves only at the next whole second.
      if (++answered === requests) resolve();
    });
    run.then(() => resolve(), reject);
  });
  const ended = performance.now();
  if (succeeded !== requests) {
    throw new Error(`Only ${succeeded} of ${requests} requests to ${url} succeeded.`);
  }
  return (requests * 1000) / (ended - started);
}

/**
 * Sends `rate` requests a second without waiting for answers.
 *
 * @returns the time of each request in milliseconds, from the moment it was due: a stalled server delays
 *   every request that is due meanwhile
 * @throws when the status of any answer is not 200
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
