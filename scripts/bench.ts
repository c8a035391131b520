import { parseArgs } from 'node:util';
import { killChildren } from './bench/child-process.ts';
import { benchClient } from './bench/client.ts';
import { benchConsole } from './bench/console.ts';
import { type Bench, openContext } from './bench/context.ts';
import { benchDecision } from './bench/decision.ts';
import { benchGrowth } from './bench/growth.ts';
import { benchImport } from './bench/import.ts';
import { describeMachine, writePage } from './bench/page.ts';
import { summarizeProfiles } from './bench/profile.ts';
import { benchPublish } from './bench/publish.ts';
import { benchRanges } from './bench/ranges.ts';
import { benchRequests } from './bench/requests.ts';
import { benchRoutes } from './bench/routes.ts';
import { benchSignIn } from './bench/sign-in.ts';
import { isMissed, renderTable, type Table } from './bench/table.ts';
import { benchWorkers } from './bench/workers.ts';

/** `npm run bench`: measures whether Slipway is as fast as promised, against baselines from the same run. */

const BENCHES: Readonly<Record<string, Bench>> = {
  routes: benchRoutes,
  growth: benchGrowth,
  import: benchImport,
  decision: benchDecision,
  'sign-in': benchSignIn,
  workers: benchWorkers,
  publish: benchPublish,
  ranges: benchRanges,
  console: benchConsole,
  client: benchClient,
  requests: benchRequests,
};
/** They run only when they are named: they wait for a quarter of an hour. */
const ON_DEMAND = ['requests'];
const DEFAULT = Object.keys(BENCHES).filter((name) => !ON_DEMAND.includes(name));

const USAGE = `npm run bench -- [NAMES…] [OPTIONS]

Without names, it runs ${DEFAULT.join(', ')}: at most 25 minutes
on two cores. Not in the default run: ${ON_DEMAND.join(', ')}, which takes 15 minutes and needs S3.

  --seconds N    end a comparison after this time, also when it is not sure (12)
  --only TEXT    routes: only those whose name contains the text
  --releases N   growth: releases of the largest catalog, at least 2000 (100000)
  --size MIB     publish: size of the file (512; half of it to S3)
  --profile      run the service under Node's profiler, and print where its time goes
  --write        write the results into docs/performance.md and docs/performance-details.md
  --strict       exit with 1 when a target is missed

S3 is measured too when TEST_S3_ENDPOINT or S3_ENDPOINT is set, with the credentials for that server.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '12' },
    only: { type: 'string', default: '' },
    releases: { type: 'string', default: '100000' },
    size: { type: 'string', default: '512' },
    profile: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const seconds = Number(values.seconds);
const releases = Number(values.releases);
const sizeMib = Number(values.size);
const unknown = positionals.filter((name) => !Object.hasOwn(BENCHES, name));
const isPartial = values.write && values.only !== '';
const isWrong =
  unknown.length > 0 || isPartial || !(seconds > 0 && releases >= 2000 && sizeMib > 0);
if (values.help || isWrong) {
  if (unknown.length > 0) console.error(`No benchmark named ${unknown.join(', ')}.\n`);
  if (isPartial) console.error('With --only, --write would remove the other rows.\n');
  console.log(USAGE);
  process.exit(isWrong ? 2 : 0);
}

/** Overwrites one line on a terminal; prints nothing when the output goes to a file. */
const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};
// The call of `exit` ends the child processes and removes the temporary files.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const context = await openContext({
  seconds,
  releases,
  sizeMib,
  only: values.only,
  progress,
});
console.log(`${describeMachine()}\n`);
let missed = 0;
let failed = 0;
for (const name of positionals.length > 0 ? positionals : DEFAULT) {
  const started = performance.now();
  const profileDirectory = values.profile ? await context.makeDirectory() : undefined;
  let tables: readonly Table[] = [];
  try {
    const run = BENCHES[name] as Bench;
    tables = await run({ ...context, ...(profileDirectory && { profileDirectory }) });
  } catch (error) {
    // The other benchmarks go on, so the processes of this one must end.
    killChildren();
    failed++;
    console.error(`${name} failed: ${(error as Error).stack}\n`);
  }
  progress('');
  for (const table of values.write ? tables : []) {
    await writePage(new Date(), table.block ?? name, renderTable(table));
  }
  const profiles = profileDirectory === undefined ? [] : await summarizeProfiles(profileDirectory);
  for (const table of [...tables, ...profiles]) console.log(renderTable(table));
  console.log(`${name} took ${((performance.now() - started) / 1000).toFixed(0)} seconds.\n`);
  missed += tables.flatMap(({ rows }) => rows).filter(isMissed).length;
}
if (missed > 0) console.log(`${missed} target${missed === 1 ? '' : 's'} missed.`);
process.exit(failed > 0 || (values.strict && missed > 0) ? 1 : 0);
