import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerParent } from './child.ts';

/** The least that a Node server can do: bare node:http, with an answer of the same size. */

answerParent({ listen: ({ bytes, status }) => listen(Number(bytes), Number(status)) });

let server: Server | undefined;

/** @param size of the answer's body in bytes @returns the port */
async function listen(size: number, status: number): Promise<number> {
  server?.close();
  server?.closeAllConnections();
  const body = Buffer.alloc(size, '0');
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...(status === 304 ? {} : { 'content-length': size }),
  };
  server = createServer((request, response) => {
    const answer = (): void => {
      response.writeHead(status, headers);
      response.end(body);
    };
    if (request.method === 'GET') return answer();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      JSON.parse(String(Buffer.concat(chunks)));
      answer();
    });
  });
  // The probe's connections may be idle for long.
  server.keepAliveTimeout = 0;
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
