import type { PublishedMetadata } from '../../catalog/live/published-metadata.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import {
  type Answer,
  type HeaderRecord,
  LASTING,
  PRIVATE_CACHE,
  type TagOf,
  taggedAnswer,
} from '../answer.ts';
import { answerFile, type FileAnswer, type FileHeaders } from '../files/answer-file.ts';
import { findFile } from '../files/find-file.ts';
import type { LinkDeps } from '../issue-link.ts';
import { openChannel } from '../open-channel.ts';
import { parseTufPath } from './tuf-path.ts';

/** Answers clients of The Update Framework, from the metadata that the publishers of an application signed. */

export interface TufDeps extends LinkDeps {
  readonly store: Pick<ObjectStore, 'open'>;
  /** Undefined for an application without a root of trust. */
  readonly metadataOf: (application: string) => PublishedMetadata | undefined;
}

interface TufRequest {
  readonly application: string;
  /** The path after the name of the application, decoded. */
  readonly path: readonly string[];
  readonly method: string;
  readonly headers: FileHeaders;
}

type TufAnswer = { readonly kind: 'document'; readonly answer: Answer } | FileAnswer;

export interface TufAnswers {
  /**
   * Answers with metadata, with a manifest, or with a file of a release.
   *
   * @param tier of the requesting account; null when the client is not signed in
   * @throws AppError `unknown_file`, `unknown_application`, `unknown_channel`, `not_entitled`; also as
   *   `PublishedMetadata`, `findFile` and `answerFile` do
   */
  answer(request: TufRequest, tier: string | null): Promise<TufAnswer>;
}

/** A client reads the timestamp right after the service offers a release, so caches keep it for a short time only. */
const TIMESTAMP_CACHE = 'public, max-age=10';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const TIMESTAMP = { ...JSON_TYPE, 'cache-control': TIMESTAMP_CACHE };
const PUBLIC = { ...JSON_TYPE, 'cache-control': LASTING };
const PRIVATE = { ...JSON_TYPE, 'cache-control': PRIVATE_CACHE };

export function createTufAnswers(deps: TufDeps, etagOf: TagOf): TufAnswers {
  const document = (bytes: Uint8Array, headers: HeaderRecord): TufAnswer => ({
    kind: 'document',
    answer: taggedAnswer(headers, bytes, etagOf),
  });
  return {
    answer: async ({ application: name, path, method, headers }, tier) => {
      const application = deps.catalog.application(name);
      const metadata = deps.metadataOf(name);
      if (metadata === undefined) {
        const detail = `${name} has no root of trust here, so it has no TUF metadata.`;
        throw new AppError('unknown_file', detail);
      }
      const { signed: state } = application.snapshot().revision;
      const asked = parseTufPath(name, path);
      if (asked?.kind === 'timestamp') {
        const version = await metadata.newestTimestamp(state);
        const kind = 'timestamp';
        const found = version && (await metadata.find({ kind, version }, state));
        if (!found) throw unknown(path);
        return document(found, TIMESTAMP);
      }
      if (asked === undefined) throw unknown(path);
      const seen =
        'channel' in asked ? openChannel(deps, application, asked.channel, tier) : undefined;
      const lasting = seen?.isRestricted === true ? PRIVATE : PUBLIC;
      if (asked.kind !== 'target') {
        let found = await metadata.find(asked, state);
        if (found === undefined && asked.kind === 'role') {
          // Another process may have published a release a moment ago.
          await deps.catalog.lookAgain(name);
          found = await metadata.find(asked, application.snapshot().revision.signed);
        }
        if (found === undefined) throw unknown(path);
        return document(found, lasting);
      }
      const { channel, version, digest, name: filename } = asked;
      const number = /^([1-9]\d{0,8})\.json$/.exec(filename)?.[1];
      if (number !== undefined && seen?.channel.offerOf(version) !== undefined) {
        const manifest = { channel, version, number: Number(number), sha256: digest };
        const found = await metadata.find({ kind: 'manifest', ...manifest }, state);
        if (found !== undefined) return document(found, lasting);
      }
      const { file } = await findFile(
        deps,
        { application: name, channel, version, filename },
        tier,
      );
      if (file.sha256 !== digest) throw unknown(path);
      const request = { application: name, channel, path: [version, filename], method, headers };
      return answerFile(deps, { ...request, keepsRedirects: false }, tier);
    },
  };
}

function unknown(path: readonly string[]): AppError {
  const name = JSON.stringify(path.join('/').slice(0, 120));
  return new AppError('unknown_file', `There is no TUF document ${name}.`);
}
