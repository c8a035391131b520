import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { installationIdOf } from '../../answers/feeds/installation-id.ts';
import type { CountedDownload } from '../../answers/files/answer-file.ts';
import { parseRangeHeader, type Selection } from '../../answers/files/range-header.ts';
import type { Clock } from '../../core/clock.ts';
import type { DownloadKind } from '../../usage/counts.ts';

/** Recognizes the requests of one download, so that it is counted once. */

/**
 * For a differential download, a client sends hundreds of requests within seconds of each other. A download that pauses
 * for this time is counted again.
 */
const FORGOTTEN_AFTER_MS = 10 * 60_000;
/** Limits the memory. The service forgets the oldest downloads first, and counts them again when they go on. */
const DOWNLOADS_MAX = 20_000;

export interface RecentDownloads {
  /**
   * Notes a GET of a file, and returns the kind of the download that it begins. Undefined when the request belongs to a
   * download that was noted already.
   *
   * A request with ranges belongs to the same download as all earlier requests of the same client for the same artifact.
   * A request for a whole file counts each time, except after ranges: electron-updater asks for the whole file when a
   * differential download fails, which is a `fallback`. So does a client that cannot apply a delta.
   *
   * The service recognizes a client by its access token, else by its installation id, else by its network address. So
   * the count is inexact. Another process does not know these downloads. Installations behind one address that send
   * neither a token nor an id count as one client while they download ranges of the same file.
   */
  note(
    request: Pick<FastifyRequest, 'headers' | 'query' | 'ip'>,
    file: NotedFile,
  ): DownloadKind | undefined;
}

type NotedFile = Pick<CountedDownload, 'artifact' | 'isDelta' | 'hasBlocks' | 'size'>;

interface Download {
  readonly seenAt: number;
  /** The kind that was counted. */
  readonly kind: DownloadKind;
  readonly hadRanges: boolean;
}

export function createRecentDownloads(clock: Pick<Clock, 'now'>): RecentDownloads {
  /** The download that was seen longest ago is the first. */
  const downloads = new Map<string, Download>();

  const note = (id: string, download: Download): void => {
    downloads.delete(id);
    downloads.set(id, download);
    if (downloads.size <= DOWNLOADS_MAX) return;
    for (const [oldest] of downloads) {
      downloads.delete(oldest);
      return;
    }
  };

  return {
    note: (request, file) => {
      const now = clock.now();
      // The key is a hash, because no token may stay in memory. Also, a substring of a header or of an address would
      // keep the whole text in memory.
      const id = createHash('sha256')
        .update(`${clientOf(request)}\n${file.artifact}`)
        .digest('base64url');
      const known = downloads.get(id);
      const isRecent = known !== undefined && now - known.seenAt < FORGOTTEN_AFTER_MS;
      const selection = parseRangeHeader(request.headers.range, file.size);
      const kind = kindOf(file, selection, request.headers.range);
      const isPart = file.isDelta || selection.kind !== 'all';
      const isWholeDelta = file.isDelta && selection.kind === 'all';
      if (!isRecent || isWholeDelta || (!isPart && !known.hadRanges)) {
        note(id, { seenAt: now, kind, hadRanges: isPart });
        return kind;
      }
      // A request for the whole file completes the ranges before it; a second such request is another download.
      note(id, { seenAt: now, kind: isPart ? known.kind : kind, hadRanges: isPart });
      return !isPart && known.kind === 'differential' ? 'fallback' : undefined;
    },
  };
}

/**
 * A client that continues a download asks for all bytes from a position on. Updaters ask for parts with an end. When a
 * file has no list of its blocks, such parts count as one whole download, because some download programs split a file.
 */
function kindOf(
  { isDelta, hasBlocks, size }: NotedFile,
  selection: Selection,
  range = '',
): DownloadKind {
  if (isDelta) return 'differential';
  const isWhole = selection.kind === 'one' && selection.span.length === size;
  if (selection.kind === 'all' || isWhole) return 'whole';
  if (/^bytes=\d+-$/i.test(range.trim())) return 'resumed';
  return hasBlocks ? 'differential' : 'whole';
}

function clientOf(request: Pick<FastifyRequest, 'headers' | 'query' | 'ip'>): string {
  const { authorization } = request.headers;
  if (authorization !== undefined) return `token ${authorization}`;
  const id = installationIdOf(request);
  return id === undefined ? `address ${request.ip}` : `id ${id}`;
}
