import { whenKnown } from '../../core/when-known.ts';
import { newestFor, type Reason } from '../../domain/decide-update.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { versionText } from '../../domain/version.ts';
import type { PresignedUrl } from '../../store/object-store.ts';
import { type FoundUpdate, findUpdate, type OfferedUpdate } from '../find-update.ts';
import { issueLink, type LinkDeps } from '../issue-link.ts';

/** The whole answer to a client that asks for an update. */
export interface UpdateCheck {
  /** The channel's own name, when the client used an alias. */
  readonly channel: string;
  /** The catalog revision that the answer comes from. */
  readonly revision: number;
  readonly reason: Reason;
  /** The newest release for this kind of machine, in any format; null when there is none. */
  readonly latestVersion: string | null;
  /** Undefined unless the reason is `offer`. */
  readonly offered: LinkedUpdate | undefined;
}

export interface LinkedUpdate extends OfferedUpdate {
  /** The link to the artifact, for GET. */
  readonly link: PresignedUrl;
}

/**
 * Answers "is there an update for this client?": the decision, the latest version and the link.
 *
 * Reads no store when the tier is known, the offered release is in memory and its link is cached. It is
 * synchronous then, because clients ask this millions of times a day.
 *
 * @param tier of the requesting account, or a promise of it; null when the client is not signed in
 * @throws AppError those of {@link findUpdate} and {@link issueLink}; as a rejection when a promise is returned
 */
export function checkForUpdate(
  deps: LinkDeps,
  query: UpdateQuery,
  tier: string | null | Promise<string | null>,
): UpdateCheck | Promise<UpdateCheck> {
  return whenKnown(tier, (known) =>
    whenKnown(findUpdate(deps, query, known), (found) => withLink(deps, query, found)),
  );
}

function withLink(
  deps: LinkDeps,
  query: UpdateQuery,
  found: FoundUpdate,
): UpdateCheck | Promise<UpdateCheck> {
  const { offered } = found;
  if (offered === undefined) return answerOf(deps, query, found, undefined);
  const link = issueLink(deps.links, query.application, offered.artifact, 'GET', found);
  return whenKnown(link, (signed) => answerOf(deps, query, found, linked(offered, signed)));
}

function linked(
  { release, artifact, mandatory, isDowngrade }: OfferedUpdate,
  link: PresignedUrl,
): LinkedUpdate {
  return { release, artifact, mandatory, isDowngrade, link };
}

function answerOf(
  { clock }: LinkDeps,
  query: UpdateQuery,
  { channel, revision, decision }: FoundUpdate,
  offered: LinkedUpdate | undefined,
): UpdateCheck {
  const latest = newestFor(channel, query, clock.now());
  return {
    channel: channel.name,
    revision,
    reason: decision.reason,
    latestVersion: latest === undefined ? null : versionText(latest.version),
    offered,
  };
}
