import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';

/**
 * Runs the tests that kill publishes for longer: `node scripts/soak.ts --kills 1000`. CI runs the same tests with
 * twenty kills. Needs a checkout; also tests S3 when TEST_S3_ENDPOINT and its credentials are set.
 */

const program = new Command('soak')
  .description('Kills many real publishes, and after each one checks what clients see.')
  .option('--kills <number>', 'how many publishes to kill (SIGKILL) per store', positive, 1_000)
  .option('--minutes <number>', 'stop after this many minutes', positive, 120)
  .option('--seed <number>', 'seed of the random moments; a failed run prints its seed', positive)
  .addOption(new Option('--store <name>', 'test only this store').choices(['directory', 's3']))
  .parse();

const { kills, minutes, seed, store } = program.opts<{
  kills: number;
  minutes: number;
  seed?: number;
  store?: string;
}>();
const startedAt = Date.now();
const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const child = spawn(
  process.execPath,
  [vitest, 'run', `test/reliability/killed-publishes${store === undefined ? '' : `-${store}`}`],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: {
      ...process.env,
      SOAK_KILLS: String(kills),
      SOAK_MINUTES: String(minutes),
      ...(seed === undefined ? {} : { SOAK_SEED: String(seed) }),
    },
    stdio: 'inherit',
  },
);
child.once('close', (code) => {
  const took = ((Date.now() - startedAt) / 60_000).toFixed(1);
  const result = code === 0 ? 'no torn states, nothing lost' : 'FAILED; the seed is printed above';
  console.log(`soak: up to ${kills} kills per store in ${took} minutes: ${result}.`);
  process.exitCode = code ?? 1;
});

function positive(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number above zero.');
}
