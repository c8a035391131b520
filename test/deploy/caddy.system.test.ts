import { describe } from 'vitest';
import { hasProgram } from '../support/programs.ts';
import { describeS3 } from '../support/s3-server.ts';
import { defineProxySuite } from './behind-a-proxy.ts';
import { startCaddy } from './caddy.ts';
import { defineHandedOver } from './handed-over.ts';

const hasPrograms =
  (await hasProgram('caddy', 'version')) && (await hasProgram('openssl', 'version'));

describeS3('Caddy in front of two processes on one bucket', (server) => {
  describe.skipIf(!hasPrograms)('with the delivered files', () =>
    defineProxySuite(server, {
      variants: [
        { name: 'at the root', host: 'updates.example.com', basePath: '', extent: 'proxy' },
        {
          name: 'below a path',
          host: 'www.example.com',
          basePath: '/updates',
          extent: 'addresses',
        },
      ],
      start: startCaddy,
    }),
  );
});

describe.skipIf(!hasPrograms)('Caddy that sends the files of a directory store', () =>
  defineHandedOver('x-sendfile', startCaddy),
);
