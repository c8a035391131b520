import { EventEmitter, once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  type DownloadedFile,
  decideLimit,
  type HttpExecutor,
  isSoundMap,
  limitDownloads,
} from '../../src/client/electron-downloads.ts';
import { renderBlockmap } from '../../src/domain/blockmap.ts';

/** Where each download of electron-updater ends. The system tests run the real electron-updater. */

describe('the limit of an answer', () => {
  const file: DownloadedFile = { kind: 'file', size: 1_000, mapSize: undefined };
  const withMap: DownloadedFile = { kind: 'file', size: 1_000, mapSize: 96 };

  it.each<[string, DownloadedFile, string | undefined, number]>([
    ['the whole file', file, undefined, 1_000],
    ['one range', file, 'bytes=10-19', 10],
    ['the last byte', file, 'bytes=999-999', 1],
    ['two ranges, with the headers of the parts', file, 'bytes=0-9, 20-29', 20 + 3 * 1_024],
    ['a range behind the end', file, 'bytes=990-1000', 0],
    ['a range that goes back', file, 'bytes=20-10', 0],
    ['a range with a wrong number', file, 'bytes=-5-10', 0],
    ['a wrong range among others', file, 'bytes=0-9, 30-20', 0],
    ['no range at all', file, 'bytes=NaN-NaN', 0],
    ['the map inside the file', withMap, 'bytes=900-999', 100],
    ['a map beside a file', { kind: 'map', size: 70, covers: 1_000 }, undefined, 70],
  ])('%s', (_name, asked, range, bytesMax) => {
    expect(decideLimit(asked, range).bytesMax).toBe(bytesMax);
  });

  it('knows which answers are block maps', () => {
    const inside = { place: 'inside', covers: 900 };
    expect(decideLimit(withMap, 'bytes=900-999').map).toEqual(inside);
    expect(decideLimit(withMap, 'bytes=899-999').map).toBeUndefined();
    expect(decideLimit(file, 'bytes=900-999').map).toBeUndefined();
    const beside = { place: 'beside', covers: 1_000 };
    expect(decideLimit({ kind: 'map', size: 70, covers: 1_000 }, undefined).map).toEqual(beside);
  });
});

describe('a block map', () => {
  const render = (sizes: readonly number[], edit = (json: string) => json): Buffer =>
    Buffer.from(edit(renderBlockmap({ sizes, checksums: sizes.map(() => 'AAAA') })));

  it.each<[string, Buffer, number | undefined, boolean]>([
    ['of the file', render([600, 400]), 1_000, true],
    ['of another size', render([600, 500]), 1_000, false],
    ['of a file of unknown size', render([600, 500]), undefined, true],
    ['that copies, and makes up for it', render([5_000, 5_000, -9_000]), 1_000, false],
    ['at another place', render([1_000], (json) => json.replace(':0', ':-9')), 1_000, false],
    ['that is another document', Buffer.from('[]'), 1_000, false],
    ['that is no document', Buffer.from('x'), 1_000, false],
    ['that unpacks to 40 MB', Buffer.alloc(40_000_000, ' '), 1_000, false],
  ])('%s', (_name, map, covers, expected) => {
    expect(isSoundMap(gzipSync(map), { place: 'beside', covers })).toBe(expected);
    const inside = Buffer.concat([deflateRawSync(map), Buffer.alloc(4)]);
    expect(isSoundMap(inside, { place: 'inside', covers })).toBe(expected);
  });

  it('that is not packed', () => {
    expect(isSoundMap(render([1_000]), { place: 'beside', covers: 1_000 })).toBe(false);
    expect(isSoundMap(Buffer.alloc(0), { place: 'inside', covers: 1_000 })).toBe(false);
  });
});

describe('an executor', () => {
  const asked = { protocol: 'http:', hostname: 'a', port: '8080', path: '/f.exe' };
  const files = new Map<string, DownloadedFile>([
    ['http://a:8080/f.exe', { kind: 'file', size: 4, mapSize: undefined }],
  ]);

  /** Answers each request with this stream. */
  function open(answer: Readable) {
    let aborts = 0;
    const abort = () => {
      aborts += 1;
    };
    const executor: HttpExecutor = {
      createRequest: (_options, callback) => {
        setImmediate(() => callback(Object.assign(answer, { statusCode: 200, headers: {} })));
        return Object.assign(new EventEmitter(), { abort });
      },
    };
    const ask = (options: object) =>
      new Promise<Readable>((resolve) => void executor.createRequest(options, resolve));
    return { executor, ask, aborts: () => aborts };
  }

  it('cuts a known file off, and ends the request', async () => {
    const answer = new PassThrough();
    const { executor, ask, aborts } = open(answer);
    limitDownloads(executor, files);
    answer.write('12');
    answer.write('3456');
    const limited = await ask({ ...asked });
    expect(limited).toMatchObject({ statusCode: 200, headers: {} });
    expect(await text(limited)).toBe('1234');
    expect(aborts()).toBe(1);
  });

  it('passes a file of the right size on as it is', async () => {
    const answer = new PassThrough();
    const { executor, ask, aborts } = open(answer);
    limitDownloads(executor, files);
    answer.end('1234');
    expect(await text(await ask({ ...asked }))).toBe('1234');
    expect(aborts()).toBe(0);
  });

  it('leaves files of other providers alone', async () => {
    const answer = new PassThrough();
    const { executor, ask } = open(answer);
    limitDownloads(executor, files);
    answer.end('123456789');
    expect(await ask({ ...asked, path: '/g.exe' })).toBe(answer);
  });

  it('is changed once, however often the application checks', async () => {
    const { executor } = open(new PassThrough());
    limitDownloads(executor, files);
    const { createRequest } = executor;
    limitDownloads(executor, files);
    expect(executor.createRequest).toBe(createRequest);
  });

  it('passes a broken connection on, and needs no listener for it', async () => {
    for (const listens of [true, false]) {
      const answer = new PassThrough();
      const { executor, ask } = open(answer);
      limitDownloads(executor, files);
      const limited = await ask({ ...asked });
      const seen = listens ? once(limited, 'error') : undefined;
      const aborted = once(limited, 'aborted');
      answer.emit('aborted');
      await aborted;
      answer.destroy(new Error('reset'));
      if (seen !== undefined) expect(String(await seen)).toContain('reset');
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('that cannot be limited is an error', () => {
    for (const executor of [null, undefined, {} as never]) {
      const limit = () => limitDownloads(executor, files);
      expect(limit).toThrow(expect.objectContaining({ code: 'invalid_options' }));
    }
  });
});
