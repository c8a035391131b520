import { defineConfig } from 'vitest/config';

const SYSTEM_TESTS = 'test/**/*.system.test.ts';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Processes, not threads: commands change the working directory.
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [SYSTEM_TESTS],
          // The files of a worker share what they import, which takes longer than most tests.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'system', include: [SYSTEM_TESTS] } },
    ],
  },
});
