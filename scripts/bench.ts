import { parseArgs } from 'node:util';
import type { Bench, BenchContext } from './bench/bench.ts';
import { benchGrowth } from './bench/growth.ts';
import { describeMachine, writePage } from './bench/page.ts';
import { benchPeers } from './bench/peers.ts';
import { summarizeProfiles } from './bench/profile.ts';
import { benchPublish } from './bench/publish.ts';
import { benchRoutes } from './bench/routes.ts';
import { findS3Place } from './bench/s3.ts';
import { benchSignIn } from './bench/sign-in.ts';
import { isMissed, renderTable, type Table } from './bench/table.ts';
import { benchWorkers } from './bench/workers.ts';
import { openWorkspace } from './bench/workspace.ts';

/** `npm run bench`: measures the promised speed against baselines measured in the same run. */

const BENCHES: Readonly<Record<string, Bench>> = {
  routes: benchRoutes,
  peers: benchPeers,
  growth: benchGrowth,
  'sign-in': benchSignIn,
  workers: benchWorkers,
  publish: benchPublish,
};

const USAGE = `npm run bench -- [NAMES…] [OPTIONS]

Names (all of them by default, which takes about 40 minutes): ${Object.keys(BENCHES).join(', ')}

  --rounds N     rounds of every comparison (5)
  --seconds N    the length of a measurement, which some benchmarks divide (20)
  --only TEXT    routes: only those whose name contains the text
  --releases N   growth: releases of the largest catalog (100000)
  --size MIB     publish: size of the file (1024; a quarter of it to S3)
  --profile      run the service under Node's profiler, and print where its time goes
  --write        write the results into docs/performance.md
  --strict       exit with 1 when a target is missed

The S3 benchmarks run when TEST_S3_ENDPOINT or S3_ENDPOINT is set, with the credentials for that server.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    releases: { type: 'string', default: '100000' },
    size: { type: 'string', default: '1024' },
    profile: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const unknown = positionals.filter((name) => !Object.hasOwn(BENCHES, name));
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`No benchmark named ${unknown.join(', ')}.\n`);
  console.log(USAGE);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const numbers = {
  rounds: numberOf('rounds'),
  seconds: numberOf('seconds'),
  releases: numberOf('releases'),
  sizeMib: numberOf('size'),
};
const s3 = findS3Place(process.env);
if (s3 !== undefined) {
  // The AWS SDK, with which the benchmarks fill the store, reads its keys from the environment.
  process.env.AWS_ACCESS_KEY_ID = s3.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.secretAccessKey;
}
const printed: string[] = [];
let missed = 0;
// `exit` ends the child processes and removes the temporary files.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const workspace = await openWorkspace();
console.log(`${describeMachine()}\n`);
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);
for (const name of names) {
  const profileDirectory = values.profile ? await workspace.makeDirectory() : undefined;
  const context: BenchContext = {
    ...{ workspace, ...numbers, s3, profileDirectory },
    only: values.only,
    progress: showProgress,
  };
  print((await BENCHES[name]?.(context)) ?? []);
  if (profileDirectory !== undefined) print(await summarizeProfiles(profileDirectory));
}
if (values.write) await writePage(new Date(), printed);
if (missed > 0) console.log(`${missed} target${missed === 1 ? '' : 's'} missed.`);
process.exitCode = values.strict && missed > 0 ? 1 : 0;

function numberOf(option: 'rounds' | 'seconds' | 'releases' | 'size'): number {
  const value = Number(values[option]);
  if (value > 0) return value;
  console.error(`--${option} must be a number above 0, not ${values[option]}.`);
  process.exit(2);
}

function print(tables: readonly Table[]): void {
  showProgress('');
  for (const table of tables) {
    const text = renderTable(table);
    console.log(text);
    printed.push(text);
    missed += table.rows.filter(isMissed).length;
  }
}

/** Overwrites one line on a terminal; prints nothing when the output goes to a file. */
function showProgress(text: string): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\x1b[K${text}`);
}
