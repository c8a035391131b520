import { vi } from 'vitest';

/** The same behaviour in a version of Node that is newer than the known ones, whose undocumented parts are not used. */

vi.mock('../../../src/server/limits/node-internals.ts', async (load) => {
  const parts = await load<typeof import('../../../src/server/limits/node-internals.ts')>();
  return { ...parts, nodeInternals: parts.internalsOf('99.0.0') };
});

await import('./connections.system.test.ts');
await import('../http/fast/prepared-answer.test.ts');
await import('../http/malformed-http.test.ts');
await import('../http/headers.test.ts');
await import('../http/abuse-slow-client.test.ts');
await import('../http/broken-pipeline.test.ts');
await import('../http/pipelining.test.ts');
