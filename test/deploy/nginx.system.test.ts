import { describe } from 'vitest';
import { hasProgram } from '../support/programs.ts';
import { describeS3 } from '../support/s3-server.ts';
import { defineProxySuite } from './behind-a-proxy.ts';
import { defineHandedOver } from './handed-over.ts';
import { startNginx } from './nginx.ts';

const hasPrograms = (await hasProgram('nginx', '-v')) && (await hasProgram('openssl', 'version'));

describeS3('nginx in front of two processes on one bucket', (server) => {
  describe.skipIf(!hasPrograms)('with the delivered files', () =>
    defineProxySuite(server, {
      variants: [
        { name: 'at the root', host: 'updates.example.com', basePath: '', extent: 'whole' },
        {
          name: 'below a path',
          host: 'www.example.com',
          basePath: '/updates',
          extent: 'addresses',
        },
      ],
      start: startNginx,
    }),
  );
});

describe.skipIf(!hasPrograms)('nginx that sends the files of a directory store', () =>
  defineHandedOver('x-accel-redirect', startNginx),
);
