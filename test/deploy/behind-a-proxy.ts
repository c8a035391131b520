import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock, systemRandomness } from '../../src/core/system.ts';
import { makeCertificate } from '../support/certificate.ts';
import { freePorts, killAll, type Running, startServer } from '../support/process.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../support/release.ts';
import { type S3Server, s3Environment, type TestBucket, useBucket } from '../support/s3-server.ts';
import {
  CONTENT,
  type Proxied,
  type ProxyKind,
  type StartedProxy,
  TRIES,
  type Variant,
} from './proxied.ts';
import { defineAddresses } from './proxied-addresses.ts';
import { defineClients } from './proxied-clients.ts';
import { defineDoctor } from './proxied-doctor.ts';
import { defineDocuments } from './proxied-documents.ts';
import { defineOutages } from './proxied-outages.ts';
import { createProxyClient, type ProxyClient } from './proxy-client.ts';

/** What every proxy in front of two processes must do, with the files of `deploy/`. */
export function defineProxySuite(server: S3Server, kind: ProxyKind): void {
  const bucket = useBucket(server);
  beforeAll(async () => {
    const directory = await makeTemporaryDirectory();
    const artifact = await makeArtifact(directory.path, { content: CONTENT });
    const parts = { store: bucket.store(), clock: systemClock, randomness: systemRandomness };
    const notes = { und: 'Repairs what was broken. '.repeat(200) };
    await publish(parts, { version: '2.0.0', artifacts: [artifact], notes });
    await directory.remove();
  });

  describe.each(kind.variants)('$name', (variant) => {
    const at = useProxied(server, bucket, kind, variant);
    defineAddresses(at);
    if (variant.extent === 'addresses') return;
    defineDocuments(at);
    defineClients(at);
    if (variant.extent === 'proxy') return;
    defineDoctor(at);
    defineOutages(at);
  });
}

/** Starts two processes and the proxy for the enclosing suite. */
function useProxied(
  server: S3Server,
  bucket: TestBucket,
  kind: ProxyKind,
  variant: Variant,
): Proxied {
  const { host, basePath } = variant;
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let proxy: StartedProxy;
  let client: ProxyClient;
  let upstreamPorts: readonly [number, number];
  const processes: Running[] = [];
  const start = async (index: 0 | 1): Promise<Running> => {
    const process = startServer({
      ...s3Environment(server, bucket.name),
      PORT: String(upstreamPorts[index]),
      PUBLIC_URL: `https://${host}${basePath}`,
      TRUST_PROXY: '127.0.0.1',
      IDENTITY_PROVIDER: 'embedded',
      AUTH_PER_ADDRESS: String(TRIES),
      DATA_DIR: path.join(directory.path, 'data'),
    });
    await process.ready();
    return process;
  };
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    const [httpPort = 0, httpsPort = 0, first = 0, second = 0] = await freePorts(4);
    upstreamPorts = [first, second];
    // One after the other: the second takes the keys that the first has made in DATA_DIR.
    processes.push(await start(0), await start(1));
    const place = path.join(directory.path, 'proxy');
    await mkdir(place);
    const certificate = await makeCertificate(place, [`DNS:${host}`]);
    const setting = { variant, directory: place, certificate, upstreamPorts };
    proxy = await kind.start({ ...setting, httpPort, httpsPort });
    const { certificate: authority } = certificate;
    client = createProxyClient({ host, httpPort, httpsPort, authority });
  }, 120_000);
  afterAll(async () => {
    client?.close();
    await proxy?.stop();
    killAll();
    await directory.remove();
  });
  const ask: ProxyClient['ask'] = (address, asked) => client.ask(`${basePath}${address}`, asked);
  return {
    variant,
    processes,
    storeUrl: server.endpoint,
    get catalogs() {
      return { store: bucket.store() };
    },
    start,
    ask,
    post: (address, body) => ask(address, { method: 'POST', body }),
    get client() {
      return client;
    },
    get proxy() {
      return proxy;
    },
  };
}
