import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';

/**
 * The killed-publish tests for longer: `node scripts/soak.ts --kills 1000`. It runs the tests
 * themselves, so that what is promised for a thousand kills is what CI holds twenty to. Works from a
 * checkout; on S3 too when TEST_S3_ENDPOINT and its companions are set.
 */

const program = new Command('soak')
  .description('Kills real publishes again and again, and looks at what clients see after each.')
  .option('--kills <number>', 'kill -9 per store', positive, 1_000)
  .option('--minutes <number>', 'give up counting after this long', positive, 120)
  .option('--seed <number>', 'of the moments; a failure names the one it had', positive)
  .addOption(new Option('--store <name>', 'only this one').choices(['directory', 's3']))
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
  const result = code === 0 ? 'no torn state, nothing lost' : 'FAILED; the seed is above';
  console.log(`soak: up to ${kills} kills per store in ${took} minutes: ${result}.`);
  process.exitCode = code ?? 1;
});

function positive(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number above zero.');
}
