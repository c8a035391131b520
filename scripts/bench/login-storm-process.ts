import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { createPasswordHasher } from '../../src/identity/passwords/password-hasher.ts';
import { answerParent, type Question } from './child.ts';

/** The clients of the log-in benches: checks at a fixed pace, and log-ins as fast as they are answered. */

export interface PacedChecks {
  /** Milliseconds from sending to the whole answer, of each check. */
  readonly times: readonly number[];
  /** Milliseconds that this client itself was late to send; what others took from it of the processor. */
  readonly late: readonly number[];
}

/** How many log-ins were answered how: `{"200": 41, "401": 38}`. */
export type Answers = Readonly<Record<string, number>>;

const PASSWORD = 'correct horse battery';
const REGISTER_AT_ONCE = 8;

answerParent({ register, check, storm, neighbour });

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
    if (status !== 202) throw new Error(`Registering was answered ${status}.`);
  };
  await Promise.all(Array.from({ length: Number(accounts) }, (_, i) => limit(one, i)));
}

function emailOf(index: number): string {
  return `somebody-${index}@example.org`;
}

/** Sends when it is time to, whatever has been answered: a server that is slow is asked no less. */
async function check({ url, body, perSecond, seconds }: Question): Promise<PacedChecks> {
  const count = Number(perSecond) * Number(seconds);
  const times: number[] = [];
  const late: number[] = [];
  const started = performance.now();
  const under: Promise<void>[] = [];
  for (let sent = 0; sent < count; sent++) {
    const due = started + (sent * 1000) / Number(perSecond);
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    const at = performance.now();
    late.push(Math.max(0, at - due));
    const asked = post(String(url), String(body)).then((status) => {
      if (status !== 200) throw new Error(`A check was answered ${status}.`);
      times.push(performance.now() - at);
    });
    // Told by the wait for all of them.
    asked.catch(() => {});
    under.push(asked);
  }
  await Promise.all(under);
  return { times, late };
}

/**
 * Every client logs in, and again as soon as it is answered: half of them with right passwords, a quarter
 * with wrong ones and a quarter as nobody.
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

/** Round and round: an account may be tried five times a minute. */
const turns = { right: 0, wrong: 0, nobody: 0 };

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
  return { email: `nobody-${turns.nobody++}@example.org`, ...wrong };
}

/** The hashing of a storm in a process that has nothing to do with the service. */
async function neighbour({ seconds }: Question): Promise<number> {
  const passwords = createPasswordHasher();
  const until = performance.now() + Number(seconds) * 1000;
  let hashes = 0;
  while (performance.now() < until) {
    await passwords.hash(PASSWORD);
    hashes++;
  }
  return hashes;
}
