import { randomUUID } from 'node:crypto';
import { Client } from 'minio';

/** The address and credentials of the S3 server to measure. */
export interface S3Place {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export const S3_SKIPPED = 'S3: skipped, because neither TEST_S3_ENDPOINT nor S3_ENDPOINT is set.';

/** The S3 server of the tests, else that of the service; undefined when neither is configured. */
export function findS3Place(env: NodeJS.ProcessEnv): S3Place | undefined {
  const endpoint = env.TEST_S3_ENDPOINT || env.S3_ENDPOINT;
  if (!endpoint) return undefined;
  return {
    endpoint,
    region: env.TEST_S3_REGION ?? env.S3_REGION ?? env.AWS_REGION ?? 'us-east-1',
    accessKeyId: env.TEST_S3_ACCESS_KEY_ID ?? env.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.TEST_S3_SECRET_ACCESS_KEY ?? env.AWS_SECRET_ACCESS_KEY ?? '',
  };
}

export function createMinioClient(place: S3Place): Client {
  const { hostname, port, protocol } = new URL(place.endpoint);
  const useSSL = protocol === 'https:';
  return new Client({
    endPoint: hostname,
    port: port === '' ? (useSSL ? 443 : 80) : Number(port),
    useSSL,
    region: place.region,
    pathStyle: true,
    accessKey: place.accessKeyId,
    secretKey: place.secretAccessKey,
  });
}

/** A new bucket, and the environment that makes a process use it. */
interface BenchBucket {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  empty(): Promise<void>;
  remove(): Promise<void>;
}

export async function makeBucket(place: S3Place): Promise<BenchBucket> {
  const client = createMinioClient(place);
  const name = `slipway-bench-${randomUUID()}`;
  await client.makeBucket(name, place.region);
  const empty = async (): Promise<void> => {
    const keys: string[] = [];
    for await (const item of client.listObjectsV2(name, '', true)) {
      keys.push((item as { readonly name: string }).name);
    }
    await client.removeObjects(name, keys);
  };
  return {
    name,
    env: {
      OBJECT_STORE: 's3',
      S3_BUCKET: name,
      S3_ENDPOINT: place.endpoint,
      S3_REGION: place.region,
      S3_FORCE_PATH_STYLE: 'true',
      AWS_ACCESS_KEY_ID: place.accessKeyId,
      AWS_SECRET_ACCESS_KEY: place.secretAccessKey,
    },
    empty,
    remove: async () => {
      await empty();
      await client.removeBucket(name);
    },
  };
}
