import { parseArgs } from 'node:util';
import type { Bench, BenchContext } from './bench/bench.ts';
import { benchGrowth } from './bench/growth.ts';
import { benchPeers } from './bench/peers.ts';
import { benchRoutes } from './bench/routes.ts';
import { findS3Place } from './bench/s3.ts';
import { isMissed, renderTable } from './bench/table.ts';
import { openWorkspace } from './bench/workspace.ts';

/** `npm run bench`: measures the promised speed against baselines measured in the same run. */

const BENCHES: Readonly<Record<string, Bench>> = {
  routes: benchRoutes,
  peers: benchPeers,
  growth: benchGrowth,
};

const USAGE = `npm run bench -- [NAMES…] [OPTIONS]

Names (all of them by default): ${Object.keys(BENCHES).join(', ')}

  --rounds N     rounds of every comparison (5)
  --seconds N    how long one measurement lasts (20)
  --releases N   releases of the largest catalog in growth (100000)
  --size MIB     size of the file to publish (1024)
  --strict       exit with 1 when a target is missed

The S3 benchmarks run when TEST_S3_ENDPOINT or S3_ENDPOINT is set, with the credentials for that server.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '20' },
    releases: { type: 'string', default: '100000' },
    size: { type: 'string', default: '1024' },
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
const s3 = findS3Place(process.env);
if (s3 !== undefined) {
  // The AWS SDK, with which the benchmarks fill the store, reads its keys from the environment.
  process.env.AWS_ACCESS_KEY_ID = s3.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.secretAccessKey;
}
try {
  const context: BenchContext = {
    workspace,
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    s3,
    releases: Number(values.releases),
    sizeMib: Number(values.size),
    profileDirectory: undefined,
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
