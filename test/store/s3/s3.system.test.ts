import { describe, expect, it } from 'vitest';
import { collect, listKeys, sourceOf } from '../../support/objects.ts';
import { describeS3, useBucket } from '../../support/s3-server.ts';
import { describeContract } from '../contract.ts';
import { describeKeys } from '../contract-keys.ts';

describeS3('S3', (server) => {
  const bucket = useBucket(server);
  describeContract('S3', async () => bucket.store());
  // A prefix changes keys, and nothing else.
  describe('S3 below a prefix: keys', () =>
    describeKeys(async () => bucket.store({ prefix: '/shared/place/' })));

  describe('S3: in addition to the contract', () => {
    const window = { signedAt: new Date(), expiresAt: new Date(Date.now() + 600_000) };

    it('writes objects that another client can read', async () => {
      const store = bucket.store({ prefix: 'own' });
      expect(store.location).toBe(`s3:${server.endpoint}/${bucket.name}/own`);
      await store.create('minio/small', Buffer.from('{}'), { contentType: 'application/json' });
      const large = Buffer.alloc(17 * 1024 * 1024, 'x');
      await store.upload('minio/large', sourceOf(large), { contentType: 'application/zip' });
      const small = await bucket.minio.statObject(bucket.name, 'own/minio/small');
      expect(small).toMatchObject({ size: 2, metaData: { 'content-type': 'application/json' } });
      const stream = await bucket.minio.getObject(bucket.name, 'own/minio/large');
      expect(large.equals(Buffer.concat(await stream.toArray()))).toBe(true);
      // The store does not list objects outside its prefix, or keys that are invalid.
      await bucket.minio.putObject(bucket.name, 'own-other/x', 'x');
      await bucket.minio.putObject(bucket.name, 'own/minio/folder/', '');
      expect(await listKeys(store)).toEqual(['minio/large', 'minio/small']);
    });

    it('presigns separate URLs for GET and HEAD', async () => {
      const store = bucket.store();
      const key = 'presigned/ü %+ name.exe';
      await store.create(key, Buffer.from('0123456789'));
      const sign = (method: 'GET' | 'HEAD') =>
        store.presign({ method, key, filename: 'Ünï "q" name.exe', ...window });
      const [get, head] = await Promise.all([sign('GET'), sign('HEAD')]);
      expect(await sign('GET')).toEqual(get);
      expect(get.expiresAt.getTime()).toBeGreaterThan(window.expiresAt.getTime() - 1000);
      const answer = await fetch(get.url);
      expect(await answer.text()).toBe('0123456789');
      expect(answer.headers.get('content-disposition')).toBe(
        `attachment; filename="_n_ \\"q\\" name.exe"; filename*=UTF-8''%C3%9Cn%C3%AF%20%22q%22%20name.exe`,
      );
      const part = await fetch(get.url, { headers: { range: 'bytes=2-3' } });
      expect([part.status, await part.text()]).toEqual([206, '23']);
      expect((await fetch(head.url, { method: 'HEAD' })).status).toBe(200);
      expect((await fetch(head.url)).status).toBe(403);
      expect((await fetch(get.url, { method: 'HEAD' })).status).toBe(403);
      expect((await fetch(get.url.replace('name.exe', 'other.exe'))).status).toBe(403);
    });

    it('presigns URLs that expire', async () => {
      const store = bucket.store();
      await store.create('presigned/old', Buffer.from('x'));
      const signedAt = new Date(Date.now() - 120_000);
      const expiresAt = new Date(Date.now() - 60_000);
      const request = { method: 'GET', key: 'presigned/old', filename: 'old' } as const;
      const { url } = await store.presign({ ...request, signedAt, expiresAt });
      expect((await fetch(url)).status).toBe(403);
    });

    it('presigns URLs for the address that clients use', async () => {
      const store = bucket.store({ publicEndpoint: 'https://cdn.example.org' });
      const request = { method: 'GET', key: 'a/b', filename: 'b', ...window } as const;
      const { url } = await store.presign(request);
      expect(url).toContain(`https://cdn.example.org/${bucket.name}/a/b?`);
    });

    it('removes only uploads that began before the date', async () => {
      const store = bucket.store({ prefix: 'abandoned' });
      await bucket.minio.initiateNewMultipartUpload(bucket.name, 'abandoned/x', {});
      await bucket.minio.initiateNewMultipartUpload(bucket.name, 'beside/x', {});
      expect(await store.removeAbandonedUploads(new Date(Date.now() - 600_000))).toBe(0);
      expect(await store.removeAbandonedUploads(new Date(Date.now() + 600_000))).toBe(1);
      expect(await store.removeAbandonedUploads(new Date(Date.now() + 600_000))).toBe(0);
    });

    it('reports a wrong bucket, wrong keys and a wrong configuration', async () => {
      const missing = bucket.store({ bucket: 'slipway-no-such-bucket' });
      for (const call of [
        () => missing.get('a'),
        () => missing.create('a', Buffer.from('')),
        () => collect(missing.list('')),
      ]) {
        await expect(call()).rejects.toMatchObject({
          code: 'invalid_configuration',
          message: expect.stringContaining('no bucket slipway-no-such-bucket at'),
        });
      }
      const credentials = { ...server.credentials, secretAccessKey: 'wrong' };
      await expect(bucket.store({ credentials }).get('a')).rejects.toMatchObject({
        code: 'store_denied',
        message: expect.stringContaining('AWS_SECRET_ACCESS_KEY'),
      });
      expect(() => bucket.store({ endpoint: 'nonsense' })).toThrow('S3_ENDPOINT');
    });
  });
});
