import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import pLimit from 'p-limit';
import { answerParent, type Question } from './child.ts';

/** An attacker that measures response times to find out which addresses have an account. */

export interface Timed {
  /** Milliseconds. The values with the same index come from consecutive requests. */
  readonly known: readonly number[];
  readonly unknown: readonly number[];
}

const PASSWORD = 'correct horse battery';
const REGISTER_AT_ONCE = 8;
const RIGHT_ANSWER = { register: 202, login: 401 } as const;
type Route = keyof typeof RIGHT_ANSWER;

const agent = new Agent({ keepAlive: true });

answerParent({
  register: ({ url, accounts }) => registerAll(String(url), Number(accounts)),
  time: timePairs,
});

async function registerAll(url: string, accounts: number): Promise<void> {
  const limit = pLimit(REGISTER_AT_ONCE);
  const all = Array.from({ length: accounts }, (_, i) =>
    limit(ask, url, 'register', knownEmail(i)),
  );
  await Promise.all(all);
}

function knownEmail(index: number): string {
  return `ada-${String(index).padStart(8, '0')}@example.org`;
}

/** A pair is an address with an account and an address of the same length without one. */
async function timePairs({ url, route, pairs, lanes, first }: Question): Promise<Timed> {
  const limit = pLimit(Number(lanes));
  const known: number[] = [];
  const unknown: number[] = [];
  const one = async (index: number): Promise<void> => {
    const subjects = [
      { email: knownEmail(Number(first) + index), times: known },
      { email: `ada-${randomUUID().slice(0, 8)}@example.org`, times: unknown },
    ];
    // In random order, so that the order has no effect on the comparison.
    if (Math.random() < 0.5) subjects.reverse();
    for (const { email, times } of subjects) {
      times[index] = await ask(String(url), route as Route, email);
    }
  };
  await Promise.all(Array.from({ length: Number(pairs) }, (_, index) => limit(one, index)));
  return { known, unknown };
}

/** @returns milliseconds until the end of the answer. @throws when its status is not the expected one */
async function ask(url: string, route: Route, email: string): Promise<number> {
  const login = { platform: 'linux', device: { id: 'device-1', name: 'laptop' } };
  const password = route === 'login' ? 'wrong horse battery' : PASSWORD;
  const body = JSON.stringify({ email, password, ...(route === 'login' ? login : {}) });
  const started = performance.now();
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const options = { agent, method: 'POST', headers };
    const sent = request(`${url}/api/v1/auth/${route}`, options, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
  const milliseconds = performance.now() - started;
  if (status !== RIGHT_ANSWER[route])
    throw new Error(`The service answered ${status} to ${route}.`);
  return milliseconds;
}
