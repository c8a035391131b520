import { expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../support/release.ts';
import { describeS3, s3Environment, useBucket } from '../support/s3-server.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { KILLS, killPublishes } from './kill-publishes.ts';

describeS3('killed publishes to S3', (server) => {
  const bucket = useBucket(server);

  it(
    'leave no torn state, killed at any request',
    async () => {
      const temporary = await makeTemporaryDirectory();
      const proxy = await startFaultProxy(server.endpoint);
      let steps = 0;

      try {
        await killPublishes({
          name: 'S3',
          store: bucket.store(),
          env: s3Environment(server, bucket.name, proxy.endpoint),
          directory: temporary.path,
          learn: async (publish) => {
            // The first publish to a store also probes it.
            expect((await (await publish()).finished).code).toBe(0);
            proxy.forgetRequests();
            expect((await (await publish()).finished).code).toBe(0);
            steps = proxy.requests();
          },
          kill: async (child, randomness) => {
            const step = 1 + Math.floor(randomness.fraction() * steps);
            const moments = ['before', 'during', 'after'] as const;
            const cut = moments[Math.floor(randomness.fraction() * moments.length)] ?? 'before';
            const meanwhile = () => void child.process.kill('SIGKILL');
            // Kills one in four at the commit: before it, during it, or when only its answer is lost.
            const atCommit = randomness.fraction() < 0.25;
            proxy.setPlan(({ number, method, url }) => {
              const isCommit = method === 'PUT' && url.includes('/catalog/');
              return (atCommit ? isCommit : number === step) ? { cut, meanwhile } : undefined;
            });
            await child.finished;
            proxy.setPlan(undefined);
          },
        });
      } finally {
        await proxy.close();
        await temporary.remove();
      }
    },
    (KILLS.minutesMax + 1) * 60_000,
  );
});
