import type { Clock } from '../core/clock.ts';
import type { ObjectStore, PresignedUrl, PresignRequest } from './object-store.ts';

const MINUTE_MS = 60_000;

/**
 * The length of a window. The service signs each link once per window. Windows start at the multiples of this length
 * since the Unix epoch.
 */
const LINK_WINDOW_MS = 20 * MINUTE_MS;

/** A link is valid for at least this time when a client gets it, unless the store's credentials end sooner. */
const LINK_REMAINING_MIN_MS = 10 * MINUTE_MS;

/**
 * A new link may be valid for less than {@link LINK_REMAINING_MIN_MS}, when the credentials end soon. The service still
 * returns this link for this time, and then signs another link.
 */
const RESIGN_AFTER_MS = MINUTE_MS;

/** Bounds the memory of one window. A catalog offers far fewer files at a time. */
const LINKS_MAX = 100_000;

/** Presigned URLs of the files in a store. */
export interface DownloadLinks {
  /**
   * @returns the link itself when it is cached, else a promise of it
   * @throws AppError `store_unavailable` and `store_denied`, as a rejected promise
   */
  link(request: LinkRequest): PresignedUrl | Promise<PresignedUrl>;
}

export interface LinkRequest extends Pick<PresignRequest, 'method' | 'key' | 'filename'> {
  /** True when every client may have the file. The link may then be an address under which caches keep the file. */
  readonly isPublic: boolean;
}

interface CachedLink {
  readonly link: PresignedUrl;
  /** Milliseconds since the Unix epoch. */
  readonly resignAt: number;
}

/**
 * Caches presigned URLs: signs once per object, method, file name and window of {@link LINK_WINDOW_MS},
 * because signing costs as much processor time as several requests.
 */
export function createDownloadLinks(deps: {
  readonly store: Pick<ObjectStore, 'presign'>;
  readonly clock: Clock;
  /**
   * Makes the address of a public file; the address does not expire. Without this function, public files get presigned
   * URLs as well.
   */
  readonly publicAddress?: ((key: string) => string) | undefined;
}): DownloadLinks {
  /** Checks pass the same `LinkRequest` again and again, and building the id takes as long as the look-up. */
  const ids = new WeakMap<LinkRequest, string>();
  let windowStart = Number.NaN;
  let cached = new Map<string, CachedLink>();
  let signing = new Map<string, Promise<PresignedUrl>>();

  async function make(request: LinkRequest): Promise<PresignedUrl> {
    const lifetime = linkLifetime(windowStart);
    const { isPublic, ...presigned } = request;
    return isPublic && deps.publicAddress !== undefined
      ? { url: deps.publicAddress(request.key), expiresAt: lifetime.expiresAt }
      : deps.store.presign({ ...presigned, ...lifetime });
  }

  async function sign(id: string, request: LinkRequest): Promise<PresignedUrl> {
    // Keeps the maps of this window: the next window replaces `cached` and `signing`, perhaps before the store answers.
    const links = cached;
    const pending = signing;
    try {
      const link = await make(request);
      const now = deps.clock.now();
      const resignAt = Math.max(
        link.expiresAt.getTime() - LINK_REMAINING_MIN_MS,
        now + RESIGN_AFTER_MS,
      );
      if (links.size >= LINKS_MAX) links.clear();
      links.set(id, { link, resignAt });
      return link;
    } finally {
      pending.delete(id);
    }
  }

  return {
    link(request) {
      const now = deps.clock.now();
      const start = now - (now % LINK_WINDOW_MS);
      if (start !== windowStart) {
        windowStart = start;
        cached = new Map();
        signing = new Map();
      }
      let id = ids.get(request);
      if (id === undefined) {
        id = idOf(request);
        ids.set(request, id);
      }
      const known = cached.get(id);
      if (known !== undefined && now < known.resignAt && now < known.link.expiresAt.getTime()) {
        return known.link;
      }
      const pending = signing.get(id);
      if (pending !== undefined) return pending;
      const promise = sign(id, request);
      signing.set(id, promise);
      return promise;
    },
  };
}

/** Keys and methods contain no newline, so two different requests never have the same id. */
function idOf({ method, isPublic, key, filename }: LinkRequest): string {
  return `${method}\n${isPublic}\n${key}\n${filename}`;
}

/**
 * The lifetime of the links that are signed in a window. It depends on the window alone, so that every replica signs
 * the same URL and a CDN can cache the file under this URL.
 *
 * @param windowStart milliseconds since the Unix epoch
 */
function linkLifetime(windowStart: number): Pick<PresignRequest, 'signedAt' | 'expiresAt'> {
  return {
    signedAt: new Date(windowStart),
    expiresAt: new Date(windowStart + LINK_WINDOW_MS + LINK_REMAINING_MIN_MS),
  };
}
