import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from './child-process.ts';
import { checks } from './clients.ts';
import { fillApplication, openTarget, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { type CountingProxy, type RequestCounts, startCountingProxy } from './counting-proxy.ts';
import { startLoad } from './load.ts';
import { type BenchStore, withStores } from './stores.ts';
import type { Table } from './table.ts';

/**
 * Counts the requests that an idle or busy service sends to its bucket, and compares the counts with the formula of
 * cost.md.
 */

interface Subject {
  readonly name: string;
  readonly applications: number;
  readonly workers: number;
  readonly isBusy: boolean;
}

const SUBJECTS: readonly Subject[] = [
  { name: '1', applications: 1, workers: 1, isBusy: false },
  { name: '10', applications: 10, workers: 1, isBusy: false },
  { name: '10, busy', applications: 10, workers: 1, isBusy: true },
  { name: '10, WORKERS=2, busy', applications: 10, workers: 2, isBusy: true },
  { name: '1000', applications: 1_000, workers: 1, isBusy: false },
];
const RELEASES = 4;
const FILES_EACH = 3;
/** Longer than a service needs to verify the files of ten applications once. */
const SECONDS = 600;
/**
 * At the start, the service reads everything once, and two minutes later it cleans up. The benchmark waits for this
 * long, so that it counts neither of the two.
 */
const SETTLED_SECONDS = 200;
const CHECKS_PER_SECOND = 20;
const HOUR_SECONDS = 3_600;

export async function benchRequests(context: BenchContext): Promise<readonly Table[]> {
  const tables: Table[] = [];
  // Each subject has its own bucket, and the benchmark measures all subjects at the same time.
  const measured = await inBuckets(context, SUBJECTS, []);
  if (measured !== undefined) tables.push(tableOf(measured));
  return tables;
}

/** @returns the requests of each subject in an hour; undefined without an S3 server */
async function inBuckets(
  context: BenchContext,
  [subject, ...others]: readonly Subject[],
  running: readonly (() => Promise<RequestCounts>)[],
): Promise<readonly RequestCounts[] | undefined> {
  if (subject === undefined) {
    await sleep(SETTLED_SECONDS * 1_000);
    return Promise.all(running.map((measure) => measure()));
  }
  let found: readonly RequestCounts[] | undefined;
  await withStores(context, async (store) => {
    if (store.name !== 'S3') return;
    context.progress(`requests: filling ${subject.name}`);
    const { measure, stop } = await openSubject(context, store, subject);
    found = await inBuckets(context, others, [...running, measure]).finally(stop);
  });
  return found;
}

async function openSubject(context: BenchContext, { env }: BenchStore, subject: Subject) {
  const target = await openTarget(env);
  for (let index = 0; index < subject.applications; index++) {
    await fillApplication(target, index === 0 ? 'desktop' : `app-${index}`, RELEASES);
  }
  const proxy = await startCountingProxy(String(env.S3_ENDPOINT));
  const settings = { S3_ENDPOINT: proxy.url, WORKERS: String(subject.workers) };
  const server = await startService(context, { ...env, ...settings });
  const load = startLoad();
  return {
    measure: async () => {
      const waited = sleep(SECONDS * 1_000);
      proxy.take();
      if (subject.isBusy) {
        const traffic = { requests: checks([versionAt(0)], '"update_available":true') };
        const pace = { seconds: SECONDS, perSecond: CHECKS_PER_SECOND };
        await load.send(server, traffic, pace);
      }
      await waited;
      return perHour(proxy);
    },
    stop: async () => {
      load.stop();
      await server.stop();
      proxy.close();
    },
  };
}

function perHour(proxy: CountingProxy): RequestCounts {
  const counts = [...proxy.take()];
  return new Map(counts.map(([name, count]) => [name, (count * HOUR_SECONDS) / SECONDS]));
}

/**
 * Computes the requests an hour, by name, with the formula of docs/operations/cost.md. The formula leaves out rare
 * requests.
 */
function expected({ applications, workers, isBusy }: Subject): RequestCounts {
  const turnSeconds = 1;
  const roundSeconds = (applications + 1) * turnSeconds;
  const verifiedSeconds = Math.ceil(540 / roundSeconds) * roundSeconds;
  const lossSeconds = Math.max(60, 20 * applications);
  const files = applications * RELEASES * FILES_EACH;
  const flushes = (HOUR_SECONDS / 50) * workers;
  return new Map([
    ['GET hints', HOUR_SECONDS / 2],
    ['GET list of applications', HOUR_SECONDS / roundSeconds],
    ['GET catalogs', applications * (HOUR_SECONDS / roundSeconds + HOUR_SECONDS / lossSeconds)],
    ['HEAD files', (HOUR_SECONDS * files) / verifiedSeconds],
    ['GET probes', HOUR_SECONDS / 30],
    ['LIST counts', flushes],
    ['PUT counts', isBusy ? flushes : 0],
    ['DELETE counts', isBusy ? flushes : 0],
    ['GET counts', isBusy ? flushes * (workers - 1) : 0],
  ]);
}

function tableOf(measured: readonly RequestCounts[]): Table {
  const formula = SUBJECTS.map(expected);
  const names = new Set([...formula, ...measured].flatMap((counts) => [...counts.keys()]));
  const cell = (counts: RequestCounts | undefined, name: string): string =>
    String(Math.round(counts?.get(name) ?? 0));
  return {
    title: 'requests: of a service to its bucket, an hour, measured (by the formula)',
    heading: ['', ...SUBJECTS.map(({ name }) => name)],
    rows: [...names].map((name) => ({
      cells: [
        name,
        ...measured.map((counts, at) => `${cell(counts, name)} (${cell(formula[at], name)})`),
      ],
    })),
    notes: [
      `Columns: applications of ${RELEASES} offered releases with ${FILES_EACH} files each. Busy: ${CHECKS_PER_SECOND} checks a second.`,
      `Counted by a proxy for ${SECONDS} seconds, ${SETTLED_SECONDS} seconds after the start, and stated for an hour. Cleaning up, once an hour, is not in it.`,
      'Files are verified when they are nine minutes old. With 1000 applications a round takes 17 minutes, so its HEADs are those of a part of the measurement.',
    ],
  };
}
