import type { IncomingHttpHeaders } from 'node:http';
import http from 'node:http';
import { connect } from 'node:http2';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

/** A client of a proxy on this machine, whose host name no resolver knows. */

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | Buffer;
  /** The address that the client connects from: any of 127.0.0.0/8. */
  readonly from?: string;
  /** Reads nothing of the body for this long. */
  readonly pauseMs?: number;
}

export interface ProxyClient {
  /** Follows no redirect. Rejects when the answer breaks off. */
  ask(path: string, asked?: Asked): Promise<Answer>;
  /** By plain HTTP. */
  askPlain(path: string, asked?: Asked): Promise<Answer>;
  /** A GET by HTTP/2. */
  askHttp2(path: string, headers: Readonly<Record<string, string>>): Promise<Answer>;
  close(): void;
}

interface ProxyAddress {
  readonly host: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** PEM: the certificate of the proxy. */
  readonly authority: string;
}

const CONTENT_TYPE = { 'content-type': 'application/json' };

export function createProxyClient({
  host,
  httpPort,
  httpsPort,
  authority,
}: ProxyAddress): ProxyClient {
  const agent = new https.Agent({ keepAlive: true, ca: authority, servername: host });
  return {
    ask: (path, asked = {}) =>
      send(asked, (options) =>
        https.request({
          ...options,
          agent,
          path,
          port: httpsPort,
          headers: headersOf(host, asked),
        }),
      ),
    askPlain: (path, asked = {}) =>
      send(asked, (options) =>
        http.request({ ...options, path, port: httpPort, headers: headersOf(host, asked) }),
      ),
    askHttp2: async (path, headers) => {
      const session = connect(`https://127.0.0.1:${httpsPort}`, {
        ca: authority,
        servername: host,
      });
      try {
        return await new Promise<Answer>((resolve, reject) => {
          session.on('error', reject);
          const stream = session.request({ ':path': path, ':authority': host, ...headers });
          stream.on('error', reject);
          stream.on('response', ({ ':status': status = 0, ...answered }) => {
            readBody(stream).then(
              (body) => resolve({ status, headers: answered as IncomingHttpHeaders, body }),
              reject,
            );
          });
        });
      } finally {
        session.close();
      }
    },
    close: () => agent.destroy(),
  };
}

function headersOf(host: string, { body, headers }: Asked): Record<string, string> {
  return { host, ...(isObject(body) ? CONTENT_TYPE : {}), ...headers };
}

const isObject = (body: Asked['body']): boolean => body !== undefined && !Buffer.isBuffer(body);

function send(
  { method = 'GET', body, from, pauseMs = 0 }: Asked,
  open: (options: http.RequestOptions) => http.ClientRequest,
): Promise<Answer> {
  const address = { hostname: '127.0.0.1', ...(from === undefined ? {} : { localAddress: from }) };
  return new Promise((resolve, reject) => {
    const request = open({ ...address, method });
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      sleep(pauseMs)
        .then(() => readBody(response))
        .then((read) => resolve({ status, headers, body: read }), reject);
    });
    request.end(isObject(body) ? JSON.stringify(body) : body);
  });
}

async function readBody(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
