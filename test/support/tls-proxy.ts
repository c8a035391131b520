import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
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
  const { key, certificate } = await makeCertificate();
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

/** A certificate for 127.0.0.1, signed by itself. */
async function makeCertificate(): Promise<{ readonly key: string; readonly certificate: string }> {
  const directory = await makeTemporaryDirectory();
  const [keyFile, file] = ['key.pem', 'certificate.pem'].map((name) =>
    path.join(directory.path, name),
  );
  try {
    const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const output = ['-days', '2', '-keyout', String(keyFile), '-out', String(file)];
    await promisify(execFile)('openssl', ['req', '-x509', ...options, ...subject, ...output]);
    return {
      key: await readFile(String(keyFile), 'utf8'),
      certificate: await readFile(String(file), 'utf8'),
    };
  } finally {
    await directory.remove();
  }
}
