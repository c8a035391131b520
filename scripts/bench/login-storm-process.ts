import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { createPasswordHasher } from '../../src/identity/passwords/password-hasher.ts';
import { answerParent, type Question } from './child.ts';

/** The clients of the sign-in benchmark: checks at a fixed pace, and sign-ins as fast as the service answers. */

export interface PacedChecks {
  /** For each check: milliseconds from sending it to the end of the answer. */
  readonly times: readonly number[];
  /** For each check: how many milliseconds too late this client sent it, because it waited for a processor. */
  readonly late: readonly number[];
}

/** Counts of sign-in responses by HTTP status: `{"200": 41, "401": 38}`. */
export type Answers = Readonly<Record<string, number>>;

const PASSWORD = 'correct horse battery';
const REGISTER_AT_ONCE = 8;

answerParent({ register, check, storm, neighbor });

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

async function post(url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function register({ url, accounts }: Question): Promise<void> {
  const limit = pLimit(REGISTER_AT_ONCE);
  const one = async (index: number): Promise<void> => {
    const body = JSON.stringify({ email: emailOf(index), password: PASSWORD });
    const status = await post(`${url}/api/v1/auth/register`, body);
    if (status !== 202) throw new Error(`The service answered ${status} to a registration.`);
  };
  await Promise.all(Array.from({ length: Number(accounts) }, (_, i) => limit(one, i)));
}

function emailOf(index: number): string {
  return `user-${index}@example.org`;
}

/** Sends at a fixed pace without waiting for answers, so that a slow server gets as many requests. */
async function check({ url, body, perSecond, seconds }: Question): Promise<PacedChecks> {
  const count = Number(perSecond) * Number(seconds);
  const times: number[] = [];
  const late: number[] = [];
  const started = performance.now();
  const inFlight: Promise<void>[] = [];
  for (let sent = 0; sent < count; sent++) {
    const due = started + (sent * 1000) / Number(perSecond);
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    const at = performance.now();
    late.push(Math.max(0, at - due));
    const asked = post(String(url), String(body)).then((status) => {
      if (status !== 200) throw new Error(`The service answered ${status} to a check.`);
      times.push(performance.now() - at);
    });
    // Promise.all below reports the rejection; until then it must not count as unhandled.
    asked.catch(() => {});
    inFlight.push(asked);
  }
  await Promise.all(inFlight);
  return { times, late };
}

/**
 * Every client signs in, and again after each answer: half of the clients with right passwords, a quarter
 * with wrong passwords, and a quarter with addresses that have no account.
 */
async function storm({ url, clients, seconds, accounts }: Question): Promise<Answers> {
  const until = performance.now() + Number(seconds) * 1000;
  const answers: Record<string, number> = {};
  const run = async (client: number): Promise<void> => {
    while (performance.now() < until) {
      const body = JSON.stringify(loginOf(client, Number(accounts)));
      const status = await post(`${url}/api/v1/auth/login`, body);
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: Number(clients) }, (_, client) => run(client)));
  return answers;
}

/** Log-ins rotate through the accounts, because each account accepts only five tries a minute. */
const turns = { right: 0, wrong: 0, unknown: 0 };

function loginOf(client: number, accounts: number): object {
  const device = { id: `device-${client}`, name: 'laptop' };
  const rest = { platform: 'linux', device };
  if (client % 2 === 0) {
    return { email: emailOf(turns.right++ % (accounts / 2)), password: PASSWORD, ...rest };
  }
  const wrong = { password: 'wrong horse battery', ...rest };
  if (client % 4 === 1) {
    return { email: emailOf(accounts / 2 + (turns.wrong++ % (accounts / 2))), ...wrong };
  }
  return { email: `unknown-${turns.unknown++}@example.org`, ...wrong };
}

/** Does the same hashing as the sign-ins, in a process that is not part of the service. */
async function neighbor({ seconds }: Question): Promise<number> {
  const passwords = createPasswordHasher();
  const until = performance.now() + Number(seconds) * 1000;
  let hashes = 0;
  while (performance.now() < until) {
    await passwords.hash(PASSWORD);
    hashes++;
  }
  return hashes;
}
