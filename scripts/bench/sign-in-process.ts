import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import pLimit from 'p-limit';
import { createPasswordHasher } from '../../src/identity/passwords/password-hasher.ts';
import { answerParent, type Question } from './child.ts';

/** Clients that register and sign in. */

/** Counts of answers by HTTP status: `{"200": 41, "401": 38}`. */
export type Answers = Readonly<Record<string, number>>;

export interface Timed {
  /** Milliseconds. The values with the same index come from consecutive requests. */
  readonly known: readonly number[];
  readonly unknown: readonly number[];
}

const PASSWORD = 'correct horse battery';
const WRONG_PASSWORD = 'wrong horse battery';
const REGISTER_AT_ONCE = 8;

answerParent({ register, signIn, hash, time });

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

function post(url: string, fields: object): Promise<number> {
  const body = JSON.stringify(fields);
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

/** Addresses have the same length, with and without an account. */
function emailOf(index: number): string {
  return `ada-${String(index).padStart(8, '0')}@example.org`;
}

function unknownEmail(): string {
  return `ada-${randomUUID().slice(0, 8)}@example.org`;
}

async function register({ url, accounts }: Question): Promise<void> {
  const limit = pLimit(REGISTER_AT_ONCE);
  const one = async (index: number): Promise<void> => {
    const account = { email: emailOf(index), password: PASSWORD };
    const status = await post(`${url}/api/v1/auth/register`, account);
    if (status !== 202) throw new Error(`The service answered ${status} to a registration.`);
  };
  await Promise.all(Array.from({ length: Number(accounts) }, (_, index) => limit(one, index)));
}

/**
 * Every client signs in, and again after each answer: half of the clients with right passwords, a quarter with wrong
 * ones, and a quarter with addresses that have no account.
 */
async function signIn({ url, clients, seconds, accounts }: Question): Promise<Answers> {
  const until = performance.now() + Number(seconds) * 1000;
  const answers: Record<string, number> = {};
  const run = async (client: number): Promise<void> => {
    while (performance.now() < until) {
      const status = await post(`${url}/api/v1/auth/login`, loginOf(client, Number(accounts)));
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: Number(clients) }, (_, client) => run(client)));
  return answers;
}

/** Sign-ins take the accounts in turn, because each account accepts only a few a minute. */
const turns = { right: 0, wrong: 0 };

function loginOf(client: number, accounts: number): object {
  const rest = { platform: 'linux', device: { id: `device-${client}`, name: 'laptop' } };
  const half = accounts / 2;
  if (client % 2 === 0) {
    return { email: emailOf(turns.right++ % half), password: PASSWORD, ...rest };
  }
  const email = client % 4 === 1 ? emailOf(half + (turns.wrong++ % half)) : unknownEmail();
  return { email, password: WRONG_PASSWORD, ...rest };
}

/** Does the same hashing as the sign-ins, in a process that is not part of the service. */
async function hash({ seconds }: Question): Promise<Answers> {
  const passwords = createPasswordHasher();
  const until = performance.now() + Number(seconds) * 1000;
  while (performance.now() < until) await passwords.hash(PASSWORD);
  return {};
}

/**
 * Times pairs of an address with an account and one without, as an attacker who looks for accounts does. Pairs that an
 * overloaded service refuses are left out.
 */
async function time({ url, route, pairs }: Question): Promise<Timed> {
  const isLogin = route === 'login';
  const login = { platform: 'linux', device: { id: 'device-1', name: 'laptop' } };
  const rest = isLogin ? { password: WRONG_PASSWORD, ...login } : { password: PASSWORD };
  const ask = async (email: string): Promise<number> => {
    const started = performance.now();
    const status = await post(`${url}/api/v1/auth/${route}`, { email, ...rest });
    if (status === (isLogin ? 401 : 202)) return performance.now() - started;
    if (status === 503) return Number.NaN;
    throw new Error(`The service answered ${status} to ${route}.`);
  };
  const timed: { readonly known: number; readonly unknown: number }[] = [];
  for (let index = 0; index < Number(pairs); index++) {
    const email = emailOf(index);
    // In random order, so that the order has no effect on the comparison.
    if (Math.random() < 0.5) {
      timed.push({ known: await ask(email), unknown: await ask(unknownEmail()) });
    } else {
      const unknown = await ask(unknownEmail());
      timed.push({ known: await ask(email), unknown });
    }
  }
  const complete = timed.filter(({ known, unknown }) => Number.isFinite(known + unknown));
  return {
    known: complete.map(({ known }) => known),
    unknown: complete.map(({ unknown }) => unknown),
  };
}
