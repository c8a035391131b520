import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that need more than this process: real S3, child processes, browsers, updaters, volumes, load. */
const SYSTEM_TESTS = 'test/**/*.system.test.ts';
/** Tests that take more than a minute on two cores. Begun last, they would run alone at the end. */
const LONGEST = new RegExp(
  `(${[
    'console-screens',
    'copy/copy',
    'docs-page',
    'electron-differential',
    'client/killed',
    'killed-publishes',
    'memory',
    'racing-publishers',
    'rollout-clocks',
    'squirrel-windows',
    'static-export',
    'test/server',
    'two-processes',
    'workers',
  ].join('|')})[^/]*\\.system\\.test\\.ts$`,
);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => (LONGEST.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** A directory in memory, where there is room: waiting for a disk takes a fifth of the time of the quick tests. */
function makeQuickDirectory(): string {
  const shared = '/dev/shm';
  const isRoomy = existsSync(shared) && roomOf(shared) > 4 * 1024 ** 3;
  const directory = mkdtempSync(path.join(isRoomy ? shared : tmpdir(), 'slipway-quick-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function roomOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

export default defineConfig(({ mode }) => ({
  test: {
    // `npm run soak` repeats what is random many times: see test/support/rounds.ts.
    env: { TEST_ROUNDS: mode === 'soak' ? 'many' : 'few' },
    setupFiles: ['test/support/set-up.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default of one second is too short on a loaded machine.
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: LongestFirst },
    // Processes, because commands change the working directory, which threads share.
    pool: 'forks',
    // Test files in one worker share their imports, because importing takes longer than most tests.
    isolate: false,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [SYSTEM_TESTS, '**/node_modules/**'],
          // More than the cores of a small machine: a quarter of the time, a test waits for a disk or a timer.
          maxWorkers: 3,
          env: { TMPDIR: makeQuickDirectory() },
          // Makes a tenth less work: most of what a test allocates is garbage at its end.
          execArgv: ['--max-semi-space-size=64'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: [SYSTEM_TESTS],
          exclude: ['**/node_modules/**'],
          // They wait for processes, timers and disks half of the time.
          maxWorkers: 4,
          // Some take half a minute on two cores, and others run beside them.
          testTimeout: mode === 'soak' ? 7_200_000 : 180_000,
          // Vitest wants an order of projects with other numbers of workers.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
}));
