import { defineConfig } from 'vitest/config';

/** Tests of what is outside this process: real S3, processes, browsers, updaters, volumes, generated load. */
const SYSTEM_TESTS = 'test/**/*.system.test.ts';
/** Tests on the memory store; the system tests run them again on real ones. */
const ON_EVERY_STORE = [
  'accounts/account',
  'accounts/invitations',
  'developer-keys/developer-keys',
  'erase-account',
  'sessions/refresh',
].map((name) => `test/identity/${name}.test.ts`);

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default of one second is too short on a loaded machine.
    expect: { poll: { timeout: 20_000 } },
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
      {
        extends: true,
        test: {
          name: 'system',
          include: [SYSTEM_TESTS, ...ON_EVERY_STORE],
          env: { TEST_STORES: 'real' },
        },
      },
    ],
  },
});
