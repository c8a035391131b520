import { randomUUID } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Client } from 'minio';
import type { Environment } from './child-process.ts';
import type { BenchContext } from './context.ts';

/** The stores that the benchmarks measure: a directory, and a bucket when an S3 server is configured. */

export interface BenchStore {
  readonly name: 'directory' | 'S3';
  /** The settings of a service on this store. */
  readonly env: Environment;
  /** Prepares an outage of the store that affects only a service with the settings `env`. */
  prepareOutage(): Promise<{ env: Environment; begin(): Promise<void>; end(): Promise<void> }>;
  /** Uploads a file with another S3 client. A directory has no such function. */
  upload?(file: string): Promise<unknown>;
  /** Removes all objects. */
  clear(): Promise<void>;
}

/**
 * Creates each store without objects, and calls `measure` with it. The directory is one of the temporary files, so this
 * function removes only the bucket.
 */
export async function withStores(
  context: BenchContext,
  measure: (store: BenchStore) => Promise<void>,
): Promise<void> {
  const DATA_DIR = await context.makeDirectory();
  const objects = path.join(DATA_DIR, 'objects');
  const outage = {
    env: { DATA_DIR },
    begin: () => rename(objects, `${objects}-away`),
    end: () => rename(`${objects}-away`, objects),
  };
  const directory: BenchStore = {
    ...{ name: 'directory', env: { DATA_DIR }, prepareOutage: async () => outage },
    clear: async () => {},
  };
  const endpoint = process.env.TEST_S3_ENDPOINT || process.env.S3_ENDPOINT;
  await measure(directory);
  if (!endpoint) return;
  const bucket = await makeBucket(endpoint, await context.makeDirectory());
  try {
    await measure(bucket);
  } finally {
    await bucket.clear();
    await bucket.remove();
  }
}

async function makeBucket(endpoint: string, DATA_DIR: string) {
  const from = process.env;
  const bucket = `slipway-bench-${randomUUID()}`;
  const region = from.TEST_S3_REGION ?? from.S3_REGION ?? 'us-east-1';
  const accessKey = from.TEST_S3_ACCESS_KEY_ID ?? from.AWS_ACCESS_KEY_ID ?? '';
  const secretKey = from.TEST_S3_SECRET_ACCESS_KEY ?? from.AWS_SECRET_ACCESS_KEY ?? '';
  const credentials = { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey };
  // The AWS SDK needs these variables to fill the store.
  Object.assign(process.env, credentials);
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === 'https:';
  const address = { endPoint: hostname, useSSL, port: Number(port) || (useSSL ? 443 : 80) };
  const client = new Client({ ...address, region, pathStyle: true, accessKey, secretKey });
  await client.makeBucket(bucket, region);
  const env = {
    ...{ OBJECT_STORE: 's3', S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_REGION: region },
    ...{ S3_FORCE_PATH_STYLE: 'true', DATA_DIR, ...credentials },
  };
  return {
    name: 'S3' as const,
    env,
    prepareOutage: async () => {
      const gate = await openGate({ host: hostname, port: address.port });
      const end = async (): Promise<void> => {};
      const S3_ENDPOINT = `${protocol}//127.0.0.1:${gate.port}`;
      return { env: { ...env, S3_ENDPOINT }, begin: gate.close, end };
    },
    upload: (file: string) => client.fPutObject(bucket, 'upload.bin', file),
    clear: async () => {
      const keys: string[] = [];
      for await (const { name } of client.listObjectsV2(bucket, '', true)) keys.push(name);
      await client.removeObjects(bucket, keys);
    },
    remove: () => client.removeBucket(bucket),
  };
}

/** A proxy in front of the S3 server. When the benchmark closes it, the store fails for the service only. */
async function openGate(target: { readonly host: string; readonly port: number }) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const other = connect(target);
    client.pipe(other).pipe(client);
    for (const socket of [client, other]) sockets.add(socket.on('error', () => socket.destroy()));
    client.on('close', () => other.destroy());
    other.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.unref().listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
