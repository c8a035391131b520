import { parseArgs } from 'node:util';
import { benchAccessToken } from './bench/access-token.ts';
import type { Bench, BenchContext } from './bench/bench.ts';
import { benchCheckUpdate } from './bench/check-update.ts';
import { benchCommandLine } from './bench/command-line.ts';
import { benchDecision } from './bench/decision.ts';
import { benchEnumeration } from './bench/enumeration.ts';
import { benchLoginStorm } from './bench/login-storm.ts';
import { benchPublish } from './bench/publish.ts';
import { benchRefresh } from './bench/refresh.ts';
import { findS3Place } from './bench/s3.ts';
import { benchStart } from './bench/start.ts';
import { benchSwap } from './bench/swap.ts';
import { isMissed, renderTable } from './bench/table.ts';
import { openWorkspace } from './bench/workspace.ts';

/** `npm run bench`: measures the promised speed against baselines measured in the same run. */

const BENCHES: Readonly<Record<string, Bench>> = {
  'check-update': benchCheckUpdate,
  decision: benchDecision,
  publish: benchPublish,
  start: benchStart,
  'access-token': benchAccessToken,
  refresh: benchRefresh,
  'login-storm': benchLoginStorm,
  enumeration: benchEnumeration,
  'command-line': benchCommandLine,
  swap: benchSwap,
};

const USAGE = `npm run bench -- [NAMES…] [OPTIONS]

Names (all of them by default): ${Object.keys(BENCHES).join(', ')}

  --rounds N     rounds of every comparison (7)
  --size MIB     size of the file to publish (1024)
  --s3-size MIB  size of the file to publish to S3, in three rounds (256: some servers keep every round in memory)
  --node-arg A   Node argument for the measured processes, such as --node-arg=--cpu-prof; repeatable
  --strict       exit with 1 when a target is missed

The S3 benchmarks run when TEST_S3_ENDPOINT or S3_ENDPOINT is set, with the credentials for that server.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    size: { type: 'string', default: '1024' },
    's3-size': { type: 'string', default: '256' },
    'node-arg': { type: 'string', multiple: true, default: [] },
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

const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);
let missed = 0;
const workspace = await openWorkspace();
// Removes the temporary files and lets `exit` end the child processes when the user interrupts.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => workspace.remove().finally(() => process.exit(130)));
}
try {
  const context: BenchContext = {
    workspace,
    rounds: Number(values.rounds),
    s3: findS3Place(process.env),
    sizeMib: Number(values.size),
    s3SizeMib: Number(values['s3-size']),
    nodeArgs: values['node-arg'],
    progress: showProgress,
  };
  console.log(`Node ${process.version}, ${process.platform} ${process.arch}\n`);
  for (const name of names) {
    const tables = (await BENCHES[name]?.(context)) ?? [];
    showProgress('');
    for (const table of tables) {
      console.log(renderTable(table));
      missed += table.rows.filter(isMissed).length;
    }
  }
} finally {
  await workspace.remove();
}
if (missed > 0) console.log(`${missed} target${missed === 1 ? '' : 's'} missed.`);
process.exitCode = values.strict && missed > 0 ? 1 : 0;

/** Overwrites one line on a terminal; prints nothing when the output goes to a file. */
function showProgress(text: string): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\x1b[K${text}`);
}
