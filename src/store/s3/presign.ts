import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { renderDisposition } from '../disposition.ts';
import type { PresignedUrl, PresignRequest } from '../object-store.ts';
import { createS3Client, type S3Connection, type S3StoreOptions } from './connection.ts';

const TEN_MINUTES_MS = 10 * 60 * 1000;

/** Presigns URLs for the public address. Equal requests give equal URLs while the credentials are the same. */
export function createS3Presigner(
  connection: S3Connection,
  options: S3StoreOptions,
): (request: PresignRequest) => Promise<PresignedUrl> {
  const { credentials } = connection.client.config;
  const signer = createS3Client(options, options.publicEndpoint ?? options.endpoint, credentials);

  return async ({ method, key, filename, signedAt, expiresAt }) => {
    const input = {
      Bucket: connection.place.bucket,
      Key: connection.fullKey(key),
      ResponseContentDisposition: renderDisposition(filename),
    };
    const request = {
      method: 'sign',
      key: input.Key,
      permission: 's3:GetObject',
      timeoutMs: connection.timeouts.writeMs,
    };
    return connection.once(request, async () => {
      const end = earlier(expiresAt, await credentialsEnd(credentials, signedAt, options.clock));
      const expiresIn = Math.floor((end.getTime() - signedAt.getTime()) / 1000);
      if (expiresIn < 1) {
        throw new AppError(
          'store_denied',
          'The credentials of the store have expired. Renew them.',
        );
      }
      const settings = { signingDate: signedAt, expiresIn };
      const url =
        method === 'HEAD'
          ? await getSignedUrl(signer, new HeadObjectCommand(input), settings)
          : await getSignedUrl(signer, new GetObjectCommand(input), settings);
      return { url, expiresAt: new Date(signedAt.getTime() + expiresIn * 1000) };
    });
  };
}

/**
 * The time at which the credentials expire. Renews the credentials first when this time is near, because presigned URLs
 * expire together with the credentials.
 */
async function credentialsEnd(
  credentials: S3Connection['client']['config']['credentials'],
  signedAt: Date,
  clock: Clock,
): Promise<Date | undefined> {
  const { expiration } = await credentials();
  const neededUntil = Math.max(signedAt.getTime(), clock.now()) + TEN_MINUTES_MS;
  if (expiration === undefined || expiration.getTime() >= neededUntil) {
    return expiration;
  }
  return (await credentials({ forceRefresh: true })).expiration;
}

function earlier(a: Date, b: Date | undefined): Date {
  return b !== undefined && b < a ? b : a;
}
