import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { BenchContext } from './bench.ts';
import { interleave, median, medianRatio } from './statistic.ts';
import { type Table, timesOf } from './table.ts';

/** Measures the processor time of one command, from the start of its process to its end. */

const HELP_CPU_MS_MAX = 400;
const SOURCE = fileURLToPath(new URL('../../scripts/slipway.ts', import.meta.url));

/** Reports the processor time of the process when it exits, on file descriptor 3. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs';
   process.on('exit', () => {
     const { user, system } = process.cpuUsage();
     writeSync(3, String(user + system));
   });`,
)}`;

export async function benchCommandLine(context: BenchContext): Promise<readonly Table[]> {
  const compiled = context.workspace.module('scripts/slipway');
  const DATA_DIR = await context.workspace.makeDirectory();
  // Commands refuse a directory without a store.
  await measureCpuMs(context, [compiled, 'doctor'], { DATA_DIR });
  const subjects = {
    'node alone': ['--eval', '0'],
    'slipway --help, from source': [SOURCE, '--help'],
    'slipway --help, compiled': [compiled, '--help'],
    'slipway --version, compiled': [compiled, '--version'],
    'slipway keys, compiled': [compiled, 'keys'],
    'slipway accounts list, compiled': [compiled, 'accounts', 'list'],
  } as const;
  type Subject = keyof typeof subjects;
  const names = Object.keys(subjects) as readonly Subject[];
  const measured = await interleave(names, context.rounds, async (name, round) => {
    context.progress(`command-line: ${name}, round ${round + 1} of ${context.rounds}`);
    return measureCpuMs(context, subjects[name], { DATA_DIR });
  });
  const alone = measured['node alone'];
  return [
    {
      title: 'command-line: processor time of one command',
      heading: ['', 'ms', '× node alone'],
      rows: names.map((name) => {
        const value = median(measured[name]);
        const cells = [name, value.toFixed(0), timesOf(medianRatio(measured[name], alone))];
        const isHelp = name.includes('--help');
        return isHelp ? { cells, target: { value, max: HELP_CPU_MS_MAX, unit: ' ms' } } : { cells };
      }),
      notes: [
        `Medians of ${context.rounds} rounds. User and system time of all threads of the process, from its start to its end.`,
      ],
    },
  ];
}

async function measureCpuMs(
  { workspace }: BenchContext,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(process.execPath, ['--import', REPORT, ...args], {
    cwd: path.dirname(workspace.path),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const ended = once(child, 'close');
  const micros = Number(await text(child.stdio[3] as Readable));
  const [code] = await ended;
  if (code !== 0 || !(micros > 0)) throw new Error(`${args.join(' ')} ended with ${code}.`);
  return micros / 1000;
}
