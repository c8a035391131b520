import { openStore } from '../../src/app/stores.ts';
import { loadConfig } from '../../src/config.ts';
import type { Account } from '../../src/identity/accounts/account-document.ts';
import { createRefreshTokens } from '../../src/identity/sessions/refresh-token.ts';
import { createSessions } from '../../src/identity/sessions/sessions.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { Secret } from '../../src/secret.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { makeAccount } from './account.ts';
import { answerParent, type Question } from './child.ts';
import { createCountingStore, type RequestCount } from './counting-store.ts';

/** Refreshes a session many times, or sends only the store requests that a refresh needs. */

const DEVICE = { id: 'device-1', name: 'laptop', osVersion: null, appVersion: null };
const log = { info: () => {}, warn: () => {}, error: () => {} };

/** Does one refresh, or sends the requests of one. */
type Step = () => Promise<void>;
let steps: Readonly<Record<string, Step>> = {};
let take = (): RequestCount => ({ requests: 0, trips: 0 });

answerParent({ open, measure, count });

async function open({ env }: Question): Promise<void> {
  const config = loadConfig(env as Record<string, string>);
  const store = await openStore({
    config,
    clock: systemClock,
    randomness: systemRandomness,
  });
  const counting = createCountingStore(store);
  take = counting.take;
  const account = await makeAccount(store);
  steps = {
    refresh: await beginRefreshing(store, account),
    counted: await beginRefreshing(counting.store, account),
    raw: await beginRaw(store),
  };
}

async function beginRefreshing(store: ObjectStore, account: Account): Promise<Step> {
  const tokens = createRefreshTokens(new Secret('not-a-secret'.repeat(4)));
  const deps = { store, clock: systemClock, randomness: systemRandomness, log, tokens };
  const sessions = createSessions(deps);
  let { refreshToken: token } = await sessions.begin(account, 'linux', DEVICE);
  return async () => {
    const next = await sessions.refresh({ token, platform: 'linux', deviceId: DEVICE.id });
    token = next.refreshToken;
  };
}

/** The same five requests in two round trips, with objects of the same size and without any other work. */
async function beginRaw(store: ObjectStore): Promise<Step> {
  const folder = `bench/${systemRandomness.id()}/${systemRandomness.id()}`;
  const key = (number: number): string => `${folder}/${number}.json`;
  const body = Buffer.alloc(600, 'x');
  let number = 1;
  await store.create(key(number), body);
  return async () => {
    await Promise.all([
      store.get(key(number)),
      store.get(key(number + 1)),
      store.head(`${folder}/end.json`),
      store.get(`bench/account/${number}.json`),
    ]);
    await store.create(key(++number), body, { contentType: 'application/json' });
  };
}

/** @returns the time of each call in milliseconds; the calls run one after the other */
async function measure({ subject, calls }: Question): Promise<readonly number[]> {
  const step = stepOf(subject);
  const times: number[] = [];
  for (let done = 0; done < Number(calls); done++) {
    const started = performance.now();
    await step();
    times.push(performance.now() - started);
  }
  return times;
}

/** @returns the highest counts of any single refresh */
async function count({ calls }: Question): Promise<RequestCount> {
  const step = stepOf('counted');
  let most = { requests: 0, trips: 0 };
  take();
  for (let done = 0; done < Number(calls); done++) {
    await step();
    const { requests, trips } = take();
    most = {
      requests: Math.max(most.requests, requests),
      trips: Math.max(most.trips, trips),
    };
  }
  return most;
}

function stepOf(subject: unknown): Step {
  const step = steps[String(subject)];
  if (step === undefined) throw new Error(`There is no subject ${subject}.`);
  return step;
}
