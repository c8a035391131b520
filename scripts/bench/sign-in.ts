import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithBench, type Server, startService } from './child-process.ts';
import { checks } from './clients.ts';
import { type Compared, compare, comparedTable } from './compare.ts';
import { fillApplication, openTarget, versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { type Request, startLoad } from './load.ts';
import { quantile } from './statistics.ts';
import type { Table } from './table.ts';

/** Measures update checks while many users sign in. */

const SLICE_SECONDS = 2;
/** The sign-ins begin this long before the first check, and end this long after the last check. */
const LEAD_MS = 300;
/**
 * This is a few percent of the checks that one process can answer. So no requests have to wait inside the load
 * generator.
 */
const CHECKS_PER_SECOND = 200;
const CLIENTS = 40;
/** With this number of accounts, the sign-ins stay below the limit for each account and minute. */
const ACCOUNTS = 160;
const PASSWORD = 'correct horse battery';
/**
 * The service does not run in production mode, because visitors there need a captcha to register. An empty value counts
 * as unset.
 */
const SETTINGS = {
  ...{ NODE_ENV: '', IDENTITY_PROVIDER: 'embedded' },
  ...{ REGISTRATION: 'open', AUTH_PER_ADDRESS: '999999' },
};

export async function benchSignIn(context: BenchContext): Promise<readonly Table[]> {
  const DATA_DIR = await context.makeDirectory();
  await fillApplication(await openTarget({ DATA_DIR }), 'desktop', 100);
  const server = await startService(context, { DATA_DIR, ...SETTINGS });
  context.progress(`sign-in: registering ${ACCOUNTS} accounts`);
  for (let index = 0; index < ACCOUNTS; index++) await register(server, emailOf(index));
  const table = await compareChecks(context, server);
  await server.stop();
  return [table];
}

function emailOf(index: number): string {
  return `ada-${index}@example.org`;
}

async function register(server: Server, email: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ email, password: PASSWORD });
  const init = { method: 'POST', headers, body };
  const { status } = await fetch(`${server.url}/api/v1/auth/register`, init);
  if (status !== 202) throw new Error(`The service answered ${status} to a registration.`);
}

function signIn(email: string, isRight: boolean): Request {
  const device = { id: 'device-1', name: 'laptop' };
  const password = isRight ? PASSWORD : 'wrong horse battery';
  return {
    ...{ method: 'POST', path: '/api/v1/auth/login', contains: '', status: isRight ? 200 : 401 },
    body: { email, password, platform: 'linux', device },
  };
}

/** The p99 of the times of checks: while clients sign in, and while another process hashes passwords. */
async function compareChecks(context: BenchContext, server: Server): Promise<Table> {
  const [load, clients] = [startLoad(), startLoad(CLIENTS)];
  const traffic = { requests: checks([versionAt(0)], '"update_available":true') };
  const quiet = async (): Promise<number> => {
    const pace = { seconds: SLICE_SECONDS, perSecond: CHECKS_PER_SECOND };
    const { times } = await load.send(server, traffic, pace);
    return quantile(times, 0.99);
  };
  // Half of the sign-ins are right. A quarter has a wrong password, and a quarter has an address without an account.
  const requests = Array.from({ length: ACCOUNTS }, (_, index) => [
    ...[signIn(emailOf(index), true), signIn(emailOf((index + 1) % ACCOUNTS), true)],
    ...[signIn(emailOf(index), false), signIn(emailOf(ACCOUNTS + index), false)],
  ]).flat();
  const counts = [0, 0];
  const signingIn = async (): Promise<number> => {
    const pace = { seconds: SLICE_SECONDS + (2 * LEAD_MS) / 1000 };
    const storm = clients.send(server, { requests }, pace);
    const [p99, sent] = await Promise.all([sleep(LEAD_MS).then(quiet), storm]);
    counts.splice(0, 2, (counts[0] ?? 0) + sent.requests, (counts[1] ?? 0) + sent.refused);
    return p99;
  };
  const hashing = async (): Promise<number> => {
    const module = path.join(
      context.root,
      'dist/src/features/accounts/passwords/password-hasher.js',
    );
    const script = `import { createPasswordHasher } from ${JSON.stringify(module)};
      const { hash } = createPasswordHasher();
      for (;;) await hash(${JSON.stringify(PASSWORD)});`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    endWithBench(child);
    const p99 = await sleep(LEAD_MS).then(quiet);
    if (!child.kill()) throw new Error('The process that hashes ended early.');
    return p99;
  };
  // The service warms up.
  await signingIn();
  const storm = { name: `${CLIENTS} clients signing in`, service: signingIn, baseline: quiet };
  const hash = { name: 'the same hashing in another process', service: hashing, baseline: quiet };
  const results: readonly Compared[] = [
    await compare(context, { ...storm, limit: { max: 2 } }),
    await compare(context, hash),
  ];
  for (const one of [load, clients]) one.stop();
  return comparedTable(
    `sign-in: p99 of check-update, ${CHECKS_PER_SECOND} a second, while users sign in`,
    'ms',
    results,
    [
      `The baseline is the same service without sign-ins. ${counts[0]} sign-ins, ${counts[1]} of them refused with 503 or 429.`,
      'The hashing in another process, one hash at a time, shows what the machine contributes.',
    ],
    2,
  );
}
