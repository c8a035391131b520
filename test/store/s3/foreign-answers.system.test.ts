import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { createS3StaticTarget } from '../../../src/store/s3/static-target.ts';
import { collect, sourceOf } from '../../support/objects.ts';
import { rounds } from '../../support/rounds.ts';
import { type Exchange, startFakeS3 } from './fake-s3.ts';
import { FOREIGN_ANSWERS } from './foreign-answers.ts';

/** A proxy, or another server, answers one request in place of the store. */

const body = Buffer.from('body');
const LARGE = Buffer.alloc(9 * 1024 * 1024, 'x');

type Fake = Awaited<ReturnType<typeof startFakeS3>>;
type Store = ReturnType<Fake['store']>;

/** Does not wait between attempts; nothing may time out on a busy machine. */
const PATIENT = {
  clock: { ...systemClock, sleep: async () => undefined },
  timeouts: { readMs: 10_000, writeMs: 10_000, progressMs: 10_000, stallMs: 10_000 },
};

function exportTo({ endpoint }: Fake) {
  return createS3StaticTarget({
    bucket: 'bucket',
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    clock: PATIENT.clock,
    randomness: { fraction: () => 0.5, id: () => 'random' },
  });
}

/** The expected result of each operation on a store with the objects `a` and `b/c`. */
const OPERATIONS: Readonly<
  Record<string, (store: Store, fake: Fake) => Promise<{ result: unknown; is: unknown }>>
> = {
  get: async (store) => ({ result: (await store.get('a'))?.body.toString(), is: 'body' }),
  'get of a missing object': async (store) => ({ result: await store.get('z'), is: undefined }),
  read: async (store) => ({
    result: Buffer.concat((await (await store.read('a'))?.stream.toArray()) ?? []).toString(),
    is: 'body',
  }),
  open: async (store) => {
    const reader = await store.open('a');
    const target = Buffer.alloc(2);
    await reader?.read(target, 1);
    return { result: target.toString(), is: 'od' };
  },
  list: async (store) => ({
    result: (await collect(store.list(''))).map(({ key }) => key),
    is: ['a', 'b/c'],
  }),
  create: async (store, { objects }) => ({
    result: [await store.create('new', body), objects.get('new')?.toString()],
    is: ['created', 'body'],
  }),
  'create of a taken key': async (store) => ({
    result: await store.create('a', Buffer.from('other')),
    is: 'exists',
  }),
  delete: async (store, { objects }) => {
    await store.delete('a');
    return { result: objects.has('a'), is: false };
  },
  upload: async (store, { objects }) => ({
    result: [await store.upload('new', sourceOf(body)), objects.get('new')?.toString()],
    is: ['created', 'body'],
  }),
  'upload in parts': async (store, { objects }) => ({
    result: [await store.upload('new', sourceOf(LARGE)), LARGE.equals(objects.get('new') ?? body)],
    is: ['created', true],
  }),
  'question for versions': async (store) => ({ result: await store.keepsVersions(), is: false }),
  'removal of abandoned uploads': async (store) => ({
    result: await store.removeAbandonedUploads(new Date()),
    is: 0,
  }),
  export: async (_, fake) => {
    fake.objects.clear();
    const target = exportTo(fake);
    const facts = { contentType: 'text/html', cacheControl: 'no-cache' };
    await target.open(false);
    await target.put('page', sourceOf(body), facts, undefined);
    return { result: fake.objects.get('page')?.toString(), is: 'body' };
  },
};

async function runWith(name: string, isForeign: (number: number) => boolean, foreign: string) {
  const { status, headers, body: page } = FOREIGN_ANSWERS[foreign] ?? { status: 0, body: '' };
  let requests = 0;
  const fake = await startFakeS3(({ answer, method, response }: Exchange) => {
    requests += 1;
    if (!isForeign(requests)) return answer();
    response.writeHead(status, headers).end(method === 'HEAD' ? undefined : page);
  });
  for (const key of ['a', 'b/c']) fake.objects.set(key, body);
  const run = OPERATIONS[name];
  if (run === undefined) throw new Error(name);
  return { outcome: run(fake.store(PATIENT), fake), requests: () => requests };
}

/** In CI, each request of the other operations gets only one of the foreign answers. */
const WITH_ALL = ['get', 'list', 'create', 'delete'];

describe('one foreign answer', () => {
  it.each(Object.keys(OPERATIONS))('at any request of "%s" changes nothing', async (name) => {
    const all = Object.keys(FOREIGN_ANSWERS);
    const takesAll = WITH_ALL.includes(name) || rounds(1, all.length) > 1;
    for (let at = 1, count = 1; at <= count; at += 1) {
      for (const foreign of takesAll ? all : [all[(7 * at) % all.length] ?? '']) {
        const { outcome, requests } = await runWith(name, (number) => number === at, foreign);
        const { result, is } = await outcome;
        expect(result, `${foreign} at request ${at}`).toEqual(is);
        count = Math.max(count, requests() - 1);
      }
    }
  });
});

it.each(['404 HTML', '404 without a body', '403 HTML', '405 HTML', '200 HTML'])(
  '%s to every request is reported soon, with the setting that may be wrong',
  async (foreign) => {
    for (const name of ['get', 'list', 'create', 'delete', 'upload', 'open']) {
      const { outcome, requests } = await runWith(name, () => true, foreign);
      await expect(outcome, name).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('Check S3_ENDPOINT'),
      });
      expect(requests(), name).toBeLessThan(10);
    }
  },
);

it('a missing bucket is reported soon, by reads and writes', async () => {
  for (const name of ['get', 'list', 'create', 'delete']) {
    const { outcome, requests } = await runWith(
      name,
      () => true,
      '404 of a store without the bucket',
    );
    await expect(outcome, name).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('There is no bucket bucket at'),
    });
    expect(requests(), name).toBeLessThan(10);
  }
});

it('wrong credentials are reported at the first answer', async () => {
  const fake = await startFakeS3(({ fail }) => fail(403, 'SignatureDoesNotMatch'));
  await expect(fake.store(PATIENT).get('a')).rejects.toMatchObject({ code: 'store_denied' });
  expect(fake.requests).toHaveLength(1);
});
