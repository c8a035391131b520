import { parseArgs } from 'node:util';
import { benchConsole } from './bench/console.ts';
import { type Bench, openContext } from './bench/context.ts';
import { benchDecision } from './bench/decision.ts';
import { benchGrowth } from './bench/growth.ts';
import { describeMachine, writePage } from './bench/page.ts';
import { benchPeers } from './bench/peers.ts';
import { summarizeProfiles } from './bench/profile.ts';
import { benchPublish } from './bench/publish.ts';
import { benchRanges } from './bench/ranges.ts';
import { benchRequests } from './bench/requests.ts';
import { benchRoutes } from './bench/routes.ts';
import { benchSignIn } from './bench/sign-in.ts';
import { isMissed, renderTable } from './bench/table.ts';
import { benchWorkers } from './bench/workers.ts';

/** `npm run bench`: measures whether Slipway is as fast as promised, against baselines from the same run. */

const BENCHES: Readonly<Record<string, Bench>> = {
  routes: benchRoutes,
  decision: benchDecision,
  peers: benchPeers,
  growth: benchGrowth,
  'sign-in': benchSignIn,
  workers: benchWorkers,
  publish: benchPublish,
  ranges: benchRanges,
  requests: benchRequests,
  console: benchConsole,
};

const USAGE = `npm run bench -- [NAMES…] [OPTIONS]

Names (all of them by default, which takes about 65 minutes): ${Object.keys(BENCHES).join(', ')}

  --rounds N     rounds of every comparison (5)
  --seconds N    the length of a measurement, which some benchmarks divide (20)
  --only TEXT    routes: only those whose name contains the text
  --releases N   growth: releases of the largest catalog, at least 2000 (100000)
  --size MIB     publish: size of the file (1024; a quarter of it to S3)
  --profile      run the service under Node's profiler, and print where its time goes
  --write        write the results of these benchmarks into docs/performance.md
  --strict       exit with 1 when a target is missed

S3 is measured too when TEST_S3_ENDPOINT or S3_ENDPOINT is set, with the credentials for that server.`;

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
const [rounds, seconds, releases, sizeMib] = [
  values.rounds,
  values.seconds,
  values.releases,
  values.size,
].map(Number) as [number, number, number, number];
const unknown = positionals.filter((name) => !Object.hasOwn(BENCHES, name));
const isWrong =
  unknown.length > 0 || !(rounds > 0 && seconds > 0 && releases >= 2000 && sizeMib > 0);
if (values.help || isWrong) {
  if (unknown.length > 0) console.error(`No benchmark named ${unknown.join(', ')}.\n`);
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
  rounds,
  seconds,
  releases,
  sizeMib,
  only: values.only,
  progress,
});
console.log(`${describeMachine()}\n`);
let missed = 0;
for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) {
  const profileDirectory = values.profile ? await context.makeDirectory() : undefined;
  const tables =
    (await BENCHES[name]?.({ ...context, ...(profileDirectory && { profileDirectory }) })) ?? [];
  progress('');
  if (values.write) await writePage(new Date(), name, tables.map(renderTable));
  const profiles = profileDirectory === undefined ? [] : await summarizeProfiles(profileDirectory);
  for (const table of [...tables, ...profiles]) console.log(renderTable(table));
  missed += tables.flatMap(({ rows }) => rows).filter(isMissed).length;
}
if (missed > 0) console.log(`${missed} target${missed === 1 ? '' : 's'} missed.`);
process.exitCode = values.strict && missed > 0 ? 1 : 0;
