import { createCatalog } from '../../src/catalog/catalog.ts';
import { decideUpdate } from '../../src/domain/decide-update.ts';
import { DEFAULT_TIERS } from '../../src/domain/tier.ts';
import type { UpdateQuery } from '../../src/domain/update-query.ts';
import { parseVersion } from '../../src/domain/version.ts';
import { createMemoryStore } from '../../src/object-store/memory.ts';
import { findUpdate } from '../../src/operations/find-update.ts';
import type { ServiceDeps } from '../../src/operations/open-channel.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { answerParent, type Question } from './child.ts';
import { type ContentPlan, fillStore, versionAt } from './content.ts';

/** Holds two catalogs in one process: both use the same compiled code, so only their size differs. */

const QUERIES = 4_096;
const HOUR_MS = 3_600_000;

interface Loaded extends ServiceDeps {
  readonly plan: Omit<ContentPlan, 'application'>;
  readonly applications: readonly string[];
}

const catalogs = new Map<string, Loaded>();

answerParent({
  load: async ({ name, applications, plan }) => {
    const names = Array.from({ length: Number(applications) }, (_, i) => `app-${i}`);
    catalogs.set(String(name), await load(names, plan as Loaded['plan']));
  },
  measure: async (question) => measure(question),
});

async function load(applications: readonly string[], plan: Loaded['plan']): Promise<Loaded> {
  const store = createMemoryStore({ clock: systemClock });
  for (const application of applications) await fillStore(store, { ...plan, application });
  const log = { info: () => {}, warn: () => {}, error: console.error };
  const times = { pollIntervalMs: HOUR_MS, staleMaxMs: HOUR_MS };
  const deps = { store, log, stateDirectory: undefined, ...times };
  const catalog = createCatalog({ ...deps, clock: systemClock, randomness: systemRandomness });
  await catalog.start();
  for (const name of applications) {
    const application = catalog.application(name);
    for (const offer of application.snapshot().offers) await application.release(offer);
  }
  return { catalog, tiers: DEFAULT_TIERS, plan, applications };
}

/** @returns nanoseconds per call */
async function measure({ name, clients, how, calls }: Question): Promise<number> {
  const loaded = catalogs.get(String(name));
  if (loaded === undefined) throw new Error(`${name} was not loaded.`);
  const mix = (clients as readonly string[]).map((client) => CLIENTS[client] ?? upToDate);
  const queries = Array.from({ length: QUERIES }, (_, i): UpdateQuery => {
    // Pairs every kind of client with every application, in an order that caches cannot predict.
    const turn = Math.floor(i / mix.length) * 7919;
    const application = loaded.applications[turn % loaded.applications.length] ?? '';
    const client = mix[i % mix.length] ?? upToDate;
    return { ...COMMON, application, ...client(loaded.plan, i) };
  });
  const run = how === 'decideUpdate' ? runDecisions(loaded, queries) : runChecks(loaded, queries);
  run(Number(calls) / 4);
  const started = process.hrtime.bigint();
  // Uses the result, so that the compiler cannot remove the measured code.
  if (Number.isNaN(run(Number(calls)))) throw new Error('The calls returned no decision.');
  return Number(process.hrtime.bigint() - started) / Number(calls);
}

function runChecks(deps: ServiceDeps, queries: readonly UpdateQuery[]) {
  return (calls: number): number => {
    let sum = 0;
    for (let call = 0; call < calls; call++) {
      const answer = findUpdate(deps, queries[call % QUERIES] as UpdateQuery, null);
      if (answer instanceof Promise) throw new Error('A release was not in memory.');
      sum += answer.revision;
    }
    return sum;
  };
}

function runDecisions({ catalog }: Loaded, queries: readonly UpdateQuery[]) {
  const channels = queries.map(({ application, channel }) => {
    const found = catalog.application(application).channel(channel);
    if (found === undefined) throw new Error(`${application} has no channel ${channel}.`);
    return found;
  });
  return (calls: number): number => {
    let sum = 0;
    for (let call = 0; call < calls; call++) {
      const at = call % QUERIES;
      const channel = channels[at] as (typeof channels)[number];
      sum += decideUpdate(queries[at] as UpdateQuery, channel).path.length;
    }
    return sum;
  };
}

const COMMON: UpdateQuery = {
  application: '',
  channel: 'stable',
  currentVersion: null,
  platform: 'windows',
  arch: 'x64',
  formats: ['nsis'],
  osVersion: '10.0.19045',
  osGate: 'server',
  installationId: null,
  purpose: 'update',
  signatureScheme: null,
};

type Client = (plan: Loaded['plan'], seed: number) => Partial<UpdateQuery>;

/** A client whose version is `releases` stable releases behind the newest. */
function behind(releases: number, { stableOffers }: Loaded['plan']): Partial<UpdateQuery> {
  const index = Math.max(0, stableOffers - 1 - releases);
  return { currentVersion: parseVersion(versionAt(index)) };
}

const upToDate: Client = (plan) => behind(0, plan);

const CLIENTS: Readonly<Record<string, Client>> = {
  'up to date': upToDate,
  'one behind': (plan) => behind(1, plan),
  'far behind': (plan, seed) => behind(2 + (seed % (plan.stableOffers - 2)), plan),
  'unsupported platform': (plan, seed) => ({
    ...behind(seed % plan.stableOffers, plan),
    platform: 'linux',
    arch: 'armv7',
    formats: null,
  }),
  'beta channel': (plan, seed) => ({ ...behind(seed % 3, plan), channel: 'beta' }),
  'format never published': (plan) => ({ ...behind(plan.stableOffers, plan), formats: ['msi'] }),
};
