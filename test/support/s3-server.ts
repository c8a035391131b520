import { randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Client } from 'minio';
import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock, systemRandomness } from '../../src/core/system.ts';
import { createS3Store, type S3StoreOptions } from '../../src/store/s3/s3.ts';

export interface S3Server {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The S3 server for the tests; undefined when TEST_S3_ENDPOINT is not set. */
function findS3Server(env: NodeJS.ProcessEnv = process.env): S3Server | undefined {
  const endpoint = env.TEST_S3_ENDPOINT;
  if (endpoint === undefined || endpoint === '') {
    return undefined;
  }
  return {
    endpoint,
    region: env.TEST_S3_REGION ?? env.S3_REGION ?? 'us-east-1',
    credentials: {
      accessKeyId: env.TEST_S3_ACCESS_KEY_ID ?? env.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: env.TEST_S3_SECRET_ACCESS_KEY ?? env.AWS_SECRET_ACCESS_KEY ?? '',
    },
  };
}

/**
 * Defines a suite that uses the S3 server. Without a server, the suite is skipped with a message. In CI it
 * fails instead, so that a missing setting cannot turn the S3 tests off unnoticed.
 */
export function describeS3(name: string, define: (server: S3Server) => void): void {
  const server = findS3Server();
  if (server !== undefined) {
    describe(name, () => define(server));
    return;
  }
  const reason = `${name}: skipped, because TEST_S3_ENDPOINT is not set`;
  if (process.env.CI) {
    throw new Error(`${reason}, but CI requires it`);
  }
  console.log(`${reason}. Set it, and TEST_S3_ACCESS_KEY_ID and TEST_S3_SECRET_ACCESS_KEY.`);
  describe.skip(reason, () => define({ endpoint: '', region: '', credentials: noCredentials }));
}

const noCredentials = { accessKeyId: '', secretAccessKey: '' };

export interface TestBucket {
  readonly name: string;
  /** An S3 client that is independent of the project's. */
  readonly minio: Client;
  /** Opens a store in the bucket with the project's own client. */
  store(options?: Partial<S3StoreOptions>): ReturnType<typeof createS3Store>;
}

/** Creates a bucket for the enclosing suite, and removes it with its objects afterwards. */
export function useBucket(server: S3Server, { versioned = false } = {}): TestBucket {
  const name = `slipway-test-${randomUUID()}`;
  let client: Client | undefined;
  const bucket: TestBucket = {
    name,
    get minio() {
      client ??= createMinioClient(server);
      return client;
    },
    store: (options = {}) =>
      createS3Store({
        bucket: name,
        endpoint: server.endpoint,
        region: server.region,
        forcePathStyle: true,
        credentials: server.credentials,
        clock: systemClock,
        randomness: systemRandomness,
        ...options,
      }),
  };
  beforeAll(async () => {
    await bucket.minio.makeBucket(name, server.region);
    if (versioned) {
      await bucket.minio.setBucketVersioning(name, { Status: 'Enabled' });
    }
  });
  afterAll(() => removeBucket(server, name));
  return bucket;
}

/** The environment with which the service and the command line use the bucket. */
export function s3Environment(
  { region, credentials, ...server }: S3Server,
  bucket: string,
  endpoint = server.endpoint,
): Record<string, string> {
  return {
    OBJECT_STORE: 's3',
    S3_BUCKET: bucket,
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_FORCE_PATH_STYLE: 'true',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}

function createMinioClient({ endpoint, region, credentials }: S3Server): Client {
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === 'https:';
  return new Client({
    endPoint: hostname,
    port: port === '' ? (useSSL ? 443 : 80) : Number(port),
    useSSL,
    region,
    pathStyle: true,
    accessKey: credentials.accessKeyId,
    secretKey: credentials.secretAccessKey,
  });
}

async function removeBucket(server: S3Server, name: string): Promise<void> {
  const { endpoint, region, credentials } = server;
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: name }));
  for (const { Key, UploadId } of Uploads) {
    await client.send(new AbortMultipartUploadCommand({ Bucket: name, Key, UploadId }));
  }
  for (;;) {
    const page = await client.send(new ListObjectVersionsCommand({ Bucket: name, MaxKeys: 200 }));
    const found = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
    if (found.length === 0) {
      break;
    }
    await Promise.all(
      found.map(({ Key, VersionId }) =>
        client.send(new DeleteObjectCommand({ Bucket: name, Key, VersionId })),
      ),
    );
  }
  await client.send(new DeleteBucketCommand({ Bucket: name }));
}
