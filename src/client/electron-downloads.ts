import { type Readable, Transform } from 'node:stream';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { coverageOf, parseBlockmap } from '../domain/blockmap.ts';
import { BLOCKMAP, WEB_PACKAGE } from '../domain/companion.ts';
import type { Release } from '../domain/release.ts';
import { UpdaterError } from './updater-error.ts';

/**
 * electron-updater writes to the disk what a server sends, for as long as the server sends, and compares the SHA-512 at
 * the end. So each download of a signed file ends at its signed size, and each part of it at the end of the part.
 */

/** The parts of electron-updater's `HttpExecutor` that are used. Every download of 5, 6 and 7 calls `createRequest`. */
export interface HttpExecutor {
  createRequest(options: RequestOptions, callback: (response: Answer) => void): Request;
  /** What may be downloaded, by address. */
  [FILES]?: Map<string, DownloadedFile>;
}

const FILES = Symbol('the files that the keys of the channel signed');
/** electron-updater copies its options, with this field, for the request that follows a redirect. */
const FILE = Symbol('the file that a request downloads');

interface RequestOptions {
  readonly protocol?: string | null;
  readonly hostname?: string | null;
  readonly port?: string | number | null;
  readonly path?: string | null;
  readonly headers?: Readonly<Record<string, unknown>> | null;
  [FILE]?: DownloadedFile;
}

interface Request {
  abort(): void;
}

type Answer = Readable & { statusCode?: number; statusMessage?: string; headers?: unknown };

export type DownloadedFile =
  | {
      readonly kind: 'file';
      /** Bytes. */
      readonly size: number;
      /** Bytes of the packed block map at its end; undefined: it has none. */
      readonly mapSize: number | undefined;
    }
  | {
      readonly kind: 'map';
      /** The maximum number of bytes. */
      readonly size: number;
      /** Bytes of the file that the map describes; undefined: unknown. */
      readonly covers: number | undefined;
    };

/** The files of a release that electron-updater may ask for, by address. */
export function listDownloads(
  { artifacts }: Pick<Release, 'artifacts'>,
  urlOf: (filename: string) => string,
): ReadonlyMap<string, DownloadedFile> {
  const files = new Map<string, DownloadedFile>();
  const add = (filename: string, file: DownloadedFile) =>
    files.set(new URL(urlOf(filename)).href, file);
  for (const { filename, size, blockMapSize, companions } of artifacts) {
    add(filename, { kind: 'file', size, mapSize: blockMapSize });
    for (const each of companions) {
      if (each.kind === BLOCKMAP) {
        add(each.filename, { kind: 'map', size: each.size, covers: size });
      } else if (each.kind === WEB_PACKAGE) {
        add(each.filename, { kind: 'file', size: each.size, mapSize: each.blockMapSize });
      }
    }
  }
  return files;
}

/** The map of a file that is installed already: the client has not read its manifest. See `builds/electron/blockmap.ts`. */
export const INSTALLED_MAP: DownloadedFile = {
  kind: 'map',
  size: 8 * 1024 * 1024,
  covers: undefined,
};

/**
 * Ends each download of these files where it must end. Downloads from other addresses stay as they are: the application
 * may have other providers.
 *
 * @throws UpdaterError `invalid_options` when the executor is no executor of electron-updater
 */
export function limitDownloads(
  executor: HttpExecutor | null | undefined,
  files: ReadonlyMap<string, DownloadedFile>,
): void {
  if (typeof executor?.createRequest !== 'function') {
    const message =
      'This electron-updater has no httpExecutor.createRequest, so the provider cannot limit its downloads. Use version 6.8 or 7.';
    throw new UpdaterError('invalid_options', message);
  }
  const known = executor[FILES] ?? limitExecutor(executor);
  // A download of an earlier check may still be under way, so its files stay.
  for (const [url, file] of files) known.set(url, file);
}

function limitExecutor(executor: HttpExecutor): Map<string, DownloadedFile> {
  const known = new Map<string, DownloadedFile>();
  const create = executor.createRequest.bind(executor);
  executor[FILES] = known;
  executor.createRequest = (options, callback) => {
    const file = options[FILE] ?? known.get(addressOf(options));
    if (file === undefined) return create(options, callback);
    options[FILE] = file;
    const limit = decideLimit(file, rangeOf(options));
    const request = create(options, (response) =>
      callback(limitAnswer(response, limit, () => request.abort())),
    );
    return request;
  };
  return known;
}

function addressOf({ protocol, hostname, port, path }: RequestOptions): string {
  const origin = `${protocol ?? 'https:'}//${hostname ?? ''}${port ? `:${port}` : ''}`;
  return URL.canParse(path ?? '/', origin) ? new URL(path ?? '/', origin).href : '';
}

function rangeOf({ headers }: RequestOptions): string | undefined {
  const name = Object.keys(headers ?? {}).find((each) => each.toLowerCase() === 'range');
  return name === undefined ? undefined : String(headers?.[name]);
}

export interface Limit {
  /** Bytes of the answer. */
  readonly bytesMax: number;
  /** What a block map must be; undefined: the answer is none. */
  readonly map: PackedMap | undefined;
}

interface PackedMap {
  /** How it is packed: with gzip beside the file, as raw deflate at its end, where four bytes with its size follow. */
  readonly place: 'beside' | 'inside';
  /** Bytes of the file; undefined: unknown. */
  readonly covers: number | undefined;
}

/** The size of an embedded map, after it. */
const TRAILER_BYTES = 4;
/** The headers of a part of an answer with several ranges, and the line that separates it. */
const PART_BYTES_MAX = 1_024;

/** @param range the header of the request. A range that the file does not have gets no byte. */
export function decideLimit(file: DownloadedFile, range: string | undefined): Limit {
  const { size } = file;
  if (file.kind === 'map') {
    return { bytesMax: size, map: { place: 'beside', covers: file.covers } };
  }
  if (range === undefined) return { bytesMax: size, map: undefined };
  const parts = range.replace(/^bytes=/, '').split(/, ?/);
  let bytes = 0;
  for (const part of parts) {
    const [, from, to] = /^(\d+)-(\d+)$/.exec(part) ?? [];
    const start = Number(from ?? size);
    const end = Number(to) + 1;
    // A missing number is NaN, so no comparison with it is true.
    if (!(start < end && end <= size)) return { bytesMax: 0, map: undefined };
    if (parts.length === 1 && end === size && size - start - TRAILER_BYTES === file.mapSize) {
      return { bytesMax: end - start, map: { place: 'inside', covers: start } };
    }
    bytes += end - start;
  }
  const around = parts.length === 1 ? 0 : (parts.length + 1) * PART_BYTES_MAX;
  return { bytesMax: bytes + around, map: undefined };
}

/**
 * The same answer, cut off at its limit. electron-updater then compares the SHA-512, and cleans up as for any wrong file.
 * A wrong block map becomes empty, and electron-updater downloads the whole file.
 */
function limitAnswer(response: Answer, { bytesMax, map }: Limit, abort: () => void): Answer {
  let left = bytesMax;
  const held: Buffer[] = [];
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (this.writableEnded) return done();
      const part = chunk.subarray(0, left);
      left -= part.length;
      if (map === undefined) this.push(part);
      else held.push(part);
      if (part.length < chunk.length) {
        response.unpipe(this);
        this.end();
        abort();
      }
      done();
    },
    flush(done) {
      if (map === undefined || isSoundMap(Buffer.concat(held), map)) {
        for (const part of held) this.push(part);
      }
      done();
    },
  });
  response.on('error', (error) => {
    // The request fails as well. electron-updater listens for the error of an answer at some places only, and an error
    // without a listener would end the application. A pipe counts as a listener.
    response.unpipe(limited);
    if (!limited.writableEnded && limited.listenerCount('error') > 0) limited.destroy(error);
  });
  response.on('aborted', () => {
    if (!limited.writableEnded) limited.emit('aborted');
  });
  const { statusCode, statusMessage, headers } = response;
  return Object.assign(response.pipe(limited), { statusCode, statusMessage, headers }) as Answer;
}

/** A map of some KB may unpack to gigabytes. */
const UNPACKED_BYTES_MAX = 32 * 1024 * 1024;

/**
 * electron-updater copies the blocks that a map names from the installed file. A map with negative sizes, or of more
 * blocks than the file has, would make it copy until the disk is full.
 */
export function isSoundMap(packed: Buffer, { place, covers }: PackedMap): boolean {
  const limit = { maxOutputLength: UNPACKED_BYTES_MAX };
  try {
    const text =
      place === 'beside'
        ? gunzipSync(packed, limit)
        : inflateRawSync(packed.subarray(0, -TRAILER_BYTES), limit);
    const map = parseBlockmap(JSON.parse(text.toString()));
    return map !== undefined && (covers === undefined || coverageOf(map) === covers);
  } catch {
    // It is not packed in this way, is larger than the limit, or is not JSON.
    return false;
  }
}
