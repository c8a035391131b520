import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../core/errors.ts';
import { parseKey } from './key.ts';
import type { PresignedUrl, PresignRequest } from './object-store.ts';

/** Signs and verifies the links of a directory store. This service itself answers requests for such links. */
export interface UrlSigner {
  /** @returns `{base}/files/{key}?expires={Unix seconds}&filename=…&signature={base64url}` */
  sign(request: PresignRequest): PresignedUrl;
  /** @throws AppError `invalid_link` when the link was altered, is for another method or has expired */
  verify(request: SignedUrlRequest): { readonly filename: string; readonly expiresAt: Date };
  /**
   * The path of a link that does not expire, for files that every client may have. Caches keep such a file under this
   * path.
   *
   * @returns `files/public/{base64url}/{key}`
   */
  signPublic(key: string): string;
  /** @param key decoded from the path @throws AppError `invalid_link` */
  verifyPublic(request: { readonly signature: string; readonly key: string }): void;
}

interface SignedUrlRequest {
  readonly method: string;
  /** Decoded from the path. */
  readonly key: string;
  /** The parsed query of the URL. The signer refuses a repeated parameter (an array). */
  readonly query: Readonly<Record<string, unknown>>;
  readonly now: Date;
}

/**
 * @param deps The signer reads `baseUrl` for each link, because a server on a free port knows its address only when it
 *   listens
 */
export function createUrlSigner(deps: {
  readonly secret: string;
  readonly baseUrl: () => string;
}): UrlSigner {
  const sign = (method: string, key: string, expires: number, filename: string): Buffer =>
    createHmac('sha256', deps.secret)
      // JSON separates the fields, whatever they contain. The first field separates this use of the secret from any
      // other use.
      .update(JSON.stringify(['slipway-file-link-1', method, key, expires, filename]))
      .digest();

  const signPublic = (key: string): Buffer =>
    createHmac('sha256', deps.secret)
      .update(JSON.stringify(['slipway-public-file-1', key]))
      .digest();

  return {
    sign({ method, key, filename, expiresAt }) {
      parseKey(key);
      const expires = Math.floor(expiresAt.getTime() / 1000);
      const signature = sign(method, key, expires, filename).toString('base64url');
      const path = encodeKey(key);
      const query = new URLSearchParams({ expires: String(expires), filename, signature });
      const base = deps.baseUrl().replace(/\/$/, '');
      return { url: `${base}/files/${path}?${query}`, expiresAt: new Date(expires * 1000) };
    },

    verify({ method, key, query, now }) {
      const { expires: expiresText, filename, signature } = query;
      if (
        typeof expiresText !== 'string' ||
        !/^\d{1,11}$/.test(expiresText) ||
        typeof filename !== 'string' ||
        typeof signature !== 'string'
      ) {
        throw invalidLink();
      }
      const expires = Number(expiresText);
      const expected = sign(method, key, expires, filename);
      if (!isEqual(signature, expected)) throw invalidLink();
      const expiresAt = new Date(expires * 1000);
      if (now >= expiresAt) {
        throw new AppError('invalid_link', 'This download link has expired. Request a new one.');
      }
      return { filename, expiresAt };
    },

    signPublic(key) {
      parseKey(key);
      return `files/public/${signPublic(key).toString('base64url')}/${encodeKey(key)}`;
    },

    verifyPublic({ signature, key }) {
      if (!isEqual(signature, signPublic(key))) throw invalidLink();
    },
  };
}

/** The key as a path of a URL. */
export function encodeKey(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}

/**
 * Compares the texts and not the decoded bytes. Decoding ignores some characters, so one file would have endless valid
 * addresses, and a cache would store it under each of them.
 */
function isEqual(signature: string, expected: Buffer): boolean {
  const given = Buffer.from(signature);
  const wanted = Buffer.from(expected.toString('base64url'));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function invalidLink(): AppError {
  return new AppError('invalid_link', 'This download link is not valid. Request a new one.');
}
