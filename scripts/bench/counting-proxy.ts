import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** Counts the requests that a service sends to an S3 server, by their purpose. */

/** The number of requests for each purpose, such as `GET hints` or `LIST counts`. */
export type RequestCounts = ReadonlyMap<string, number>;

export interface CountingProxy {
  /** The address to use as `S3_ENDPOINT`. */
  readonly url: string;
  /** The counts since the last `take`. */
  take(): RequestCounts;
  close(): void;
}

/** The purpose of a request. The pattern matches the key without the bucket, or the prefix of a listing. */
const PURPOSES: readonly (readonly [RegExp, string])[] = [
  [/^changes\//, 'hints'],
  [/^applications\//, 'list of applications'],
  [/^apps\/[^/]+\/catalog\//, 'catalogs'],
  [/^apps\/[^/]+\/artifacts\//, 'files'],
  [/^apps\/[^/]+\/releases\//, 'releases'],
  [/^usage\//, 'counts'],
  [/^probe\//, 'probes'],
  [
    /^(housekeeping|contact|accounts|invitations|sessions|developer-keys|lockouts)\//,
    'cleaning up',
  ],
];

/** @param target `http://host:port` of the S3 server. The proxy does not change addresses and signatures */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  let counts = new Map<string, number>();
  const server = createServer((incoming, answer) => {
    const name = nameOf(incoming);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const { method, url, headers } = incoming;
    const sent = request({ hostname, port, agent, method, path: url, headers }, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers);
      pipeline(received, answer, () => {});
    });
    sent.on('error', () => answer.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

function nameOf({ method = 'GET', url = '/' }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const prefix = searchParams.has('list-type') ? (searchParams.get('prefix') ?? '') : undefined;
  const key = prefix ?? pathname.split('/').slice(2).join('/');
  const purpose = PURPOSES.find(([pattern]) => pattern.test(key))?.[1] ?? `other: ${key}`;
  return `${prefix === undefined ? method : 'LIST'} ${purpose}`;
}
