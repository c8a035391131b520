import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';

/**
 * Runs the tests whose length can be chosen for longer than CI does: `node scripts/soak.ts --kills 1000`. CI kills 20
 * publishes per store, gives 250 wrong answers of S3, lets another server answer some requests of each command, and tries
 * 4,000 of the 43,000 orders of a sign-in and an erasure.
 * Needs a checkout; also tests S3 when TEST_S3_ENDPOINT and its credentials are set.
 */

const program = new Command('soak')
  .description(
    'Kills many real publishes, and after each one checks what clients see. Then gives many wrong answers of the store to commands, lets another server answer each of their requests, and tries every order of a sign-in and an erasure.',
  )
  .option('--kills <number>', 'how many publishes to kill (SIGKILL) per store', positive, 1_000)
  .option('--minutes <number>', 'stop killing after this many minutes', positive, 120)
  .option('--wrong-answers <number>', 'how many commands get a wrong answer of S3', positive, 1_000)
  .option('--seed <number>', 'seed of the random moments; a failed run prints its seed', positive)
  .addOption(new Option('--store <name>', 'test only this store').choices(['directory', 's3']))
  .parse();

const { kills, minutes, wrongAnswers, seed, store } = program.opts<{
  kills: number;
  minutes: number;
  wrongAnswers: number;
  seed?: number;
  store?: string;
}>();
const startedAt = Date.now();
const vitest = path.join(
  path.dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
const ofStore = store === undefined ? '' : `-${store}`;
const tests = [
  `test/reliability/killed-publishes${ofStore}`,
  `test/reliability/lies${ofStore}`,
  'test/identity/sessions/session-races.system',
  'foreign-answers.system',
];
const child = spawn(process.execPath, [vitest, 'run', ...tests], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: {
    ...process.env,
    SOAK_KILLS: String(kills),
    SOAK_MINUTES: String(minutes),
    SOAK_WRONG_ANSWERS: String(wrongAnswers),
    SOAK_ORDERS: 'every',
    SOAK_FOREIGN_ANSWERS: 'every',
    ...(seed === undefined ? {} : { SOAK_SEED: String(seed) }),
  },
  stdio: 'inherit',
});
child.once('close', (code) => {
  const took = ((Date.now() - startedAt) / 60_000).toFixed(1);
  const result =
    code === 0
      ? 'no torn states, nothing lost'
      : 'FAILED; see above, where the seed is also printed';
  console.log(
    `soak: up to ${kills} kills per store, wrong answers and orders in ${took} minutes: ${result}.`,
  );
  process.exitCode = code ?? 1;
});

function positive(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number above zero.');
}
