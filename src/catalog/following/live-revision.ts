import { runInTurns } from '../../core/run-in-turns.ts';
import type { Channel } from '../../domain/channel.ts';
import type { ReadableSequence } from '../../store/sequence/read-checked.ts';
import type { FollowedSequence } from '../../store/sequence/sequence.ts';
import type { Chained } from '../chain.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import { type PackedRevision, packRevision } from '../documents/packed-document.ts';
import { channelsInSteps, type RevisionJson } from '../documents/revision-document.ts';
import { fullnessOf } from '../documents/revision-size.ts';
import { shownNameOf } from '../documents/settings-document.ts';
import { revisionSequence } from '../sequences.ts';

/**
 * A catalog revision in the form in which a service keeps it. The parsed JSON of thousands of offers would take several
 * times the memory.
 */
export interface LiveRevision extends Chained {
  /** The channels by name, in the order of display. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** The drafts of all channels, also of hidden ones. No answer to a client may contain them. */
  readonly drafts: readonly WaitingDraft[];
  /** See {@link shownNameOf}. */
  readonly displayName: string | null;
  /** See {@link fullnessOf}. */
  readonly fullness: number;
  /** The stored document, for the saved state and for explanations: see {@link unpackRevision}. */
  readonly document: PackedRevision;
}

/** The facts that a service keeps about a release that a channel holds back. */
interface WaitingDraft extends Pick<DraftJson, 'since' | 'opens'> {
  readonly channel: string;
}

/**
 * The catalog revisions of an application, for a service. A service reads and refuses the same documents as a
 * publisher.
 */
export function liveRevisionSequence(
  application: string,
): ReadableSequence<LiveRevision> & FollowedSequence {
  const sequence = revisionSequence(application);
  const { key, name, documentBytesMax, corruptNewest, loss } = sequence;
  return {
    key,
    name,
    documentBytesMax,
    corruptNewest,
    loss,
    parse: async (document, number) => {
      const { signed, digest } = await sequence.parse(document, number);
      const { revision, previous, skipped, settings } = signed;
      return {
        signed: { revision, previous, skipped },
        digest,
        channels: await runInTurns(channelsInSteps(signed)),
        drafts: waitingDrafts(signed.channels),
        displayName: shownNameOf(settings),
        fullness: fullnessOf(document.byteLength, signed.channels),
        document: await packRevision(document),
      };
    },
  };
}

function waitingDrafts(channels: RevisionJson['channels']): readonly WaitingDraft[] {
  return Object.entries(channels).flatMap(([channel, { drafts = [] }]) =>
    drafts.map(({ since, opens }) => ({ channel, since, opens })),
  );
}
