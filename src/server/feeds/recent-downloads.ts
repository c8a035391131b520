import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { installationIdOf } from '../../answers/feeds/installation-id.ts';
import type { CountedDownload } from '../../answers/files/answer-file.ts';
import { parseRangeHeader, type Selection } from '../../answers/files/range-header.ts';
import type { Clock } from '../../core/clock.ts';
import { DAY_MS, type DownloadKind } from '../../usage/counts.ts';
import {
  type BegunKind,
  decideForAddress,
  decideForClient,
  type FileRequest,
  type SeenAddress,
  type SeenDownload,
  type Stretch,
} from './decide-download.ts';

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
   * Notes a GET of a file, and returns what to count: the kind of a new download, or a correction of a counted one.
   * Empty when the request belongs to a download that was noted already.
   *
   * The service recognizes a client by its installation id, else by its access token: see `decideForClient`. Else only
   * the network address is known, which several clients may share: see `decideForAddress`.
   *
   * Another process does not know these downloads, so a download whose requests reach two processes counts twice.
   */
  note(
    request: Pick<FastifyRequest, 'headers' | 'query' | 'ip'>,
    file: NotedFile,
  ): readonly DownloadKind[];
}

type NotedFile = Pick<CountedDownload, 'artifact' | 'isDelta' | 'hasBlocks' | 'size'>;

interface Noted {
  readonly seenAt: number;
  /** Undefined: the requests named no client. */
  readonly client?: SeenDownload;
  /** Undefined: the requests named their client. */
  readonly address?: SeenAddress;
}

export function createRecentDownloads(clock: Pick<Clock, 'now'>): RecentDownloads {
  /** The download that was seen longest ago is the first. */
  const downloads = new Map<string, Noted>();

  const keep = (id: string, noted: Noted): void => {
    downloads.delete(id);
    downloads.set(id, noted);
    if (downloads.size <= DOWNLOADS_MAX) return;
    for (const [oldest] of downloads) {
      downloads.delete(oldest);
      return;
    }
  };

  return {
    note: (request, file) => {
      const now = clock.now();
      const client = clientOf(request);
      const who = client ?? `address ${request.ip}`;
      // The key is a hash, because no token may stay in memory. Also, a substring of a header or of an address would
      // keep the whole text in memory.
      const id = createHash('sha256').update(`${who}\n${file.artifact}`).digest('base64url');
      const known = downloads.get(id);
      const isRecent = known !== undefined && now - known.seenAt < FORGOTTEN_AFTER_MS;
      const before = isRecent ? known : undefined;
      const asked = requestOf(file, request.headers.range);
      if (client !== undefined) {
        const { counted, seen } = decideForClient(asked, before?.client);
        keep(id, { seenAt: now, client: seen });
        return counted;
      }
      const { counted, seen } = decideForAddress(asked, before?.address, Math.floor(now / DAY_MS));
      keep(id, { seenAt: now, address: seen });
      return counted;
    },
  };
}

function requestOf(file: NotedFile, range: string | undefined): FileRequest {
  const selection = parseRangeHeader(range, file.size);
  return {
    kind: kindOf(file, selection, range),
    isDelta: file.isDelta,
    part: stretchOf(selection, file.size),
  };
}

/** @returns undefined for the whole file */
function stretchOf(selection: Selection, size: number): Stretch | undefined {
  if (selection.kind === 'all') return undefined;
  if (selection.kind === 'none') return { start: size, end: size };
  const spans = selection.kind === 'one' ? [selection.span] : selection.spans;
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map((span) => span.start + span.length));
  return start === 0 && end === size && spans.length === 1 ? undefined : { start, end };
}

/**
 * A client that continues a download asks for all bytes from a position on. Updaters ask for parts with an end. When a
 * file has no list of its blocks, such parts count as one whole download, because some download programs split a file.
 */
function kindOf(
  { isDelta, hasBlocks, size }: NotedFile,
  selection: Selection,
  range = '',
): BegunKind {
  if (isDelta) return 'differential';
  const isWhole = selection.kind === 'one' && selection.span.length === size;
  if (selection.kind === 'all' || isWhole) return 'whole';
  if (/^bytes=\d+-$/i.test(range.trim())) return 'resumed';
  return hasBlocks ? 'differential' : 'whole';
}

/**
 * The client that a request names. The id comes first: several installations may share a token, and a client that
 * refreshes its token keeps its id.
 *
 * @returns undefined when only the network address is known
 */
function clientOf({
  headers,
  query,
}: Pick<FastifyRequest, 'headers' | 'query'>): string | undefined {
  const id = installationIdOf({ headers, query });
  if (id !== undefined) return `id ${id}`;
  const { authorization } = headers;
  return authorization === undefined ? undefined : `token ${authorization}`;
}
