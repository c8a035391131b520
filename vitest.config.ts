import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Much of the time is waiting for processes, servers and browsers: two files at a time, also on two cores.
    maxWorkers: 2,
  },
});
