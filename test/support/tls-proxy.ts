import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { makeCertificate } from './certificate.ts';
import { makeTemporaryDirectory } from './release.ts';

/** A proxy that ends TLS and sends each request to the next of several service processes, as a load balancer does. */
export interface TlsProxy {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** PEM: what clients have to trust. */
  readonly authority: string;
  /** How many requests each upstream answered. */
  readonly answered: readonly number[];
  /** @param urls of the service processes */
  forwardTo(urls: readonly string[]): void;
  close(): Promise<void>;
}

/** Listens first, because the services need the proxy's address for their PUBLIC_URL. Needs openssl. */
export async function startTlsProxy(): Promise<TlsProxy> {
  const { key, certificate } = await makeOwnCertificate();
  let upstreams: readonly URL[] = [];
  const answered: number[] = [];
  let next = 0;
  const server = https.createServer({ key, cert: certificate }, (request, response) => {
    const index = next++ % upstreams.length;
    const upstream = upstreams[index];
    if (upstream === undefined) return void response.writeHead(502).end();
    answered[index] = (answered[index] ?? 0) + 1;
    forward(upstream, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authority: certificate,
    answered,
    forwardTo: (urls) => {
      upstreams = urls.map((url) => new URL(url));
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(
  { hostname, port }: URL,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): void {
  const { method, url, headers } = request;
  const sent = http.request({ hostname, port, method, path: url, headers, agent: false });
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    // Ends the other side when one side breaks off.
    pipeline(answer, response, () => {});
  });
  sent.on('error', () => response.destroy());
  response.on('close', () => sent.destroy());
  request.pipe(sent);
}

async function makeOwnCertificate(): Promise<{
  readonly key: string;
  readonly certificate: string;
}> {
  const directory = await makeTemporaryDirectory();
  try {
    const { keyFile, certificate } = await makeCertificate(directory.path, ['IP:127.0.0.1']);
    return { key: await readFile(keyFile, 'utf8'), certificate };
  } finally {
    await directory.remove();
  }
}
