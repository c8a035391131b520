import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
} from '@aws-sdk/client-s3';
import type { S3Connection } from './connection.ts';
import { isRefusal } from './errors.ts';

/** Aborts multipart uploads below the prefix that began before `before`: their parts take up paid storage. */
export async function removeAbandonedS3Uploads(
  connection: S3Connection,
  before: Date,
): Promise<number> {
  let removed = 0;
  for await (const upload of listUploads(connection)) {
    if (upload.Initiated !== undefined && upload.Initiated < before) {
      removed += (await abortUpload(connection, upload)) ? 1 : 0;
    }
  }
  return removed;
}

async function* listUploads(connection: S3Connection): AsyncGenerator<MultipartUpload> {
  const { fullPrefix, place, retrying, timeouts } = connection;
  const Prefix = fullPrefix('');
  const request = {
    method: 'LIST',
    key: Prefix,
    permission: 's3:ListBucketMultipartUploads',
    timeoutMs: timeouts.writeMs,
  };
  let last: ListMultipartUploadsCommandOutput | undefined;
  do {
    const command = new ListMultipartUploadsCommand({
      Bucket: place.bucket,
      Prefix,
      KeyMarker: last?.NextKeyMarker,
      UploadIdMarker: last?.NextUploadIdMarker,
    });
    last = await retrying(request, (abortSignal, { client }) =>
      client.send(command, { abortSignal }),
    );
    yield* last.Uploads ?? [];
  } while (last.IsTruncated === true && last.NextKeyMarker !== undefined);
}

/** Returns false when another process completed or aborted the upload meanwhile. */
async function abortUpload(
  { place, retrying, timeouts }: S3Connection,
  { Key = '', UploadId }: MultipartUpload,
): Promise<boolean> {
  const request = {
    method: 'DELETE',
    key: Key,
    permission: 's3:AbortMultipartUpload',
    timeoutMs: timeouts.writeMs,
  };
  return retrying(request, async (abortSignal, { client }) => {
    try {
      const command = new AbortMultipartUploadCommand({ Bucket: place.bucket, Key, UploadId });
      await client.send(command, { abortSignal });
      return true;
    } catch (error) {
      if (isRefusal(error, 'NoSuchUpload')) {
        return false;
      }
      throw error;
    }
  });
}
