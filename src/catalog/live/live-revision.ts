import { runInTurns } from '../../core/run-in-turns.ts';
import { mapInSteps, type Steps } from '../../core/steps.ts';
import type { Channel } from '../../domain/channel.ts';
import type { ReadableSequence } from '../../store/sequence/read-checked.ts';
import type { FollowedSequence } from '../../store/sequence/sequence.ts';
import type { DraftJson } from '../documents/draft-document.ts';
import { type PackedRevision, packRevision } from '../documents/packed-document.ts';
import {
  type ChannelJson,
  channelsInSteps,
  type RevisionJson,
} from '../documents/revision-document.ts';
import { fullnessOf } from '../documents/revision-size.ts';
import { shownNameOf } from '../documents/settings-document.ts';
import type { Chained } from '../reading/chain.ts';
import { revisionSequence } from '../reading/sequences.ts';
import { coverageOf, type Roles, refuseOtherSettings } from '../trust/application-trust.ts';
import type { Trust } from '../trust/trust.ts';

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
  /** Sentences about offers that the roles of their channels do not cover: no client sees these offers. */
  readonly refused: readonly string[];
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
  trust?: Trust,
): ReadableSequence<LiveRevision> & FollowedSequence {
  const sequence = revisionSequence(application, trust);
  const verifying = trust?.of(application);
  const { key, name, documentBytesMax, reach, corruptNewest, loss } = sequence;
  return {
    key,
    name,
    documentBytesMax,
    reach,
    corruptNewest,
    loss,
    parse: async (document, number) => {
      const { signed, digest } = await sequence.parse(document, number);
      const { revision, previous, skipped, settings, trust: based } = signed;
      const roles = await verifying?.rolesOf(signed);
      const { channels, refused } =
        roles === undefined
          ? { channels: signed.channels, refused: [] }
          : await runInTurns(coveredInSteps(application, signed, roles));
      return {
        signed: { revision, previous, skipped, trust: based },
        digest,
        channels: await runInTurns(channelsInSteps({ channels })),
        refused,
        drafts: waitingDrafts(signed.channels),
        displayName: shownNameOf(settings),
        fullness: fullnessOf(document.byteLength, signed.channels),
        document: await packRevision(document),
      };
    },
  };
}

/** The most sentences about refused offers. */
const REFUSED_MAX = 20;

/**
 * Leaves out the offers that the roles of their channels do not cover.
 *
 * @throws AppError `document_corrupt` when a channel has other settings than its role states
 */
function* coveredInSteps(
  application: string,
  revision: Pick<RevisionJson, 'revision' | 'channels'>,
  roles: Exclude<Roles, undefined>,
): Steps<{ readonly channels: RevisionJson['channels']; readonly refused: readonly string[] }> {
  refuseOtherSettings(application, revision, roles);
  const { covers } = coverageOf(application, roles);
  const refused: string[] = [];
  const channels: Record<string, ChannelJson> = {};
  for (const [name, channel] of Object.entries(revision.channels)) {
    const isCovered = yield* mapInSteps(channel.offers, (offer) => covers(name, offer));
    const offers = channel.offers.filter((_, index) => isCovered[index]);
    const left = channel.offers.filter((_, index) => !isCovered[index]);
    for (const { version } of left.slice(0, REFUSED_MAX - refused.length)) {
      refused.push(`${version} is not offered on ${name}: too few keys of ${name} signed it.`);
    }
    // Without a role, nothing says from which channel it inherits.
    const own = roles.has(name) ? channel : { ...channel, inherits: null, allow_downgrade: false };
    channels[name] = { ...own, offers };
  }
  return { channels, refused };
}

function waitingDrafts(channels: RevisionJson['channels']): readonly WaitingDraft[] {
  return Object.entries(channels).flatMap(([channel, { drafts = [] }]) =>
    drafts.map(({ since, opens }) => ({ channel, since, opens })),
  );
}
