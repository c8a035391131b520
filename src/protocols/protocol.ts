import type { Decision } from '../domain/decide-update.ts';
import type { Format, Platform } from '../domain/platform.ts';
import type { Artifact, Release } from '../domain/release.ts';
import type { UpdateQuery } from '../domain/update-query.ts';

/**
 * An updater dialect: one file that parses its requests and renders its answers, and one line in
 * `registry.ts`. Dialects see neither the store nor the HTTP framework.
 */
export interface Protocol {
  /** In addresses: `/feeds/{application}/{channel}/{name}/…`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** What its clients on a platform can be offered, best first. */
  formatsFor(platform: Platform): readonly Format[];
  /** A signature that an artifact must have; null: none. */
  readonly signatureScheme: UpdateQuery['signatureScheme'];
  /**
   * What a request asks; undefined when its path is none of the dialect's documents.
   *
   * @throws AppError `invalid_version`, `unknown_platform`, `unknown_arch`
   */
  parseRequest(request: FeedRequest): UpdateQuery | undefined;
  /** The document to answer with, or what the dialect says when there is nothing newer. */
  renderAnswer(answer: FeedAnswer): FeedResponse;
}

export interface FeedRequest {
  readonly application: string;
  readonly channel: string;
  /** What follows the dialect's name, decoded, without a leading slash. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface FeedAnswer {
  readonly request: FeedRequest;
  readonly query: UpdateQuery;
  readonly decision: Decision;
  /** With an offer: the release and the artifact that was chosen. */
  readonly offered?: { readonly release: Release; readonly artifact: Artifact };
  /** Whether the channel is for some accounts only, so that the client sends an access token. */
  readonly isRestricted: boolean;
  /** The stable, absolute address of one of the release's files. */
  readonly fileUrl: (filename: string) => string;
}

export interface FeedResponse {
  readonly status: 200 | 204 | 404;
  /** Empty without a document. */
  readonly contentType: string;
  readonly body: string;
}

/** The stable address of a file below its feed: the version is part of the path on purpose. */
export function filePath(version: string, filename: string): string {
  return `${encodeURIComponent(version)}/${encodeURIComponent(filename)}`;
}

/** What every dialect may say beside its own words, in the query or as a header. */
export function commonFields(request: FeedRequest): {
  readonly installationId: string | null;
  readonly osVersion: string | null;
} {
  const { query, headers } = request;
  return {
    installationId: query.installation_id ?? headers['x-installation-id'] ?? null,
    osVersion: query.os_version ?? null,
  };
}
