import { defineConfig } from 'vitest/config';

/** Tests that need more than this process: real S3, child processes, browsers, updaters, volumes, load. */
const SYSTEM_TESTS = 'test/**/*.system.test.ts';
/** Tests that the quick project runs on the memory store, and the system project on real stores. */
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
    // Processes, because commands change the working directory, which threads share.
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [SYSTEM_TESTS],
          // Test files in one worker share their imports, because importing takes longer than most tests.
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
