import type { Clock } from '../clock.ts';
import type { ObjectStore, PresignedUrl, PresignRequest } from './object-store.ts';

const MINUTE_MS = 60_000;
const WINDOW_MS = 20 * MINUTE_MS;
/** What is left of a link at the least when it is handed out, as long as the credentials allow it. */
const REMAINING_MIN_MS = 10 * MINUTE_MS;
/** How long a link that falls short of that is served before another attempt to get a longer one. */
const RESIGN_AFTER_MS = MINUTE_MS;
/** A bound for the memory of one window; far above the number of files that are on offer at once. */
const LINKS_MAX = 100_000;

export interface DownloadLinks {
  /** The link itself when it is known, else a promise of it. */
  link(request: LinkRequest): PresignedUrl | Promise<PresignedUrl>;
}

export type LinkRequest = Pick<PresignRequest, 'method' | 'key' | 'filename'>;

interface KnownLink {
  readonly link: PresignedUrl;
  /** Milliseconds since the epoch. */
  readonly resignAt: number;
}

/**
 * Presigned URLs, one signing per object, method, file name and window.
 *
 * Windows are 20 minutes long and begin at multiples of 20 minutes of wall time, in every process
 * alike, so that replicas hand out the same URL and a CDN can keep it. A URL is signed as of its
 * window's start and ends 30 minutes after it: at least ten minutes are left of it at any time, unless
 * the store's credentials end sooner. A signing costs several requests' worth of processor time.
 */
export function createDownloadLinks(deps: {
  readonly store: Pick<ObjectStore, 'presign'>;
  readonly clock: Clock;
}): DownloadLinks {
  let windowStart = Number.NaN;
  let known = new Map<string, KnownLink>();
  let signing = new Map<string, Promise<PresignedUrl>>();

  async function sign(id: string, request: LinkRequest): Promise<PresignedUrl> {
    const [links, pending, start] = [known, signing, windowStart];
    try {
      const link = await deps.store.presign({
        ...request,
        signedAt: new Date(start),
        expiresAt: new Date(start + WINDOW_MS + REMAINING_MIN_MS),
      });
      const now = deps.clock.now();
      const resignAt = Math.max(link.expiresAt.getTime() - REMAINING_MIN_MS, now + RESIGN_AFTER_MS);
      if (links.size >= LINKS_MAX) {
        links.clear();
      }
      links.set(id, { link, resignAt });
      return link;
    } finally {
      pending.delete(id);
    }
  }

  return {
    link(request) {
      const now = deps.clock.now();
      const start = now - (now % WINDOW_MS);
      if (start !== windowStart) {
        windowStart = start;
        known = new Map();
        signing = new Map();
      }
      // No key or method contains a newline, so different requests have different ids.
      const id = `${request.method}\n${request.key}\n${request.filename}`;
      const found = known.get(id);
      // At the window's very end `resignAt` is reached as well, but by then the window is another.
      if (found !== undefined && now < found.resignAt && now < found.link.expiresAt.getTime()) {
        return found.link;
      }
      const pending = signing.get(id);
      if (pending !== undefined) {
        return pending;
      }
      const promise = sign(id, request);
      signing.set(id, promise);
      return promise;
    },
  };
}
