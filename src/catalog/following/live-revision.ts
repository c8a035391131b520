import { AppError, isAppError } from '../../core/errors.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { mapInSteps, type Steps } from '../../core/steps.ts';
import type { Channel } from '../../domain/channel.ts';
import { type Check, parseEnvelopeInSteps } from '../../store/sequence/envelope.ts';
import type { ItemConverters } from '../../store/sequence/json.ts';
import type { ReadableSequence } from '../../store/sequence/read-checked.ts';
import type { FollowedSequence } from '../../store/sequence/sequence.ts';
import type { Chained } from '../chain.ts';
import { type DraftJson, discardedSchema, draftSchema } from '../documents/draft-document.ts';
import { versionSchema } from '../documents/manifest-document.ts';
import {
  channelOf,
  channelsInSteps,
  createOfferParser,
  keptOutSchema,
  offerSchema,
  type RevisionJson,
  revisionOutlineSchema,
  visibleChannels,
} from '../documents/revision-document.ts';
import { type SettingsJson, shownNameOf } from '../documents/settings-document.ts';
import { revisionSequence } from '../sequences.ts';

/** A catalog revision as a service keeps it: parsed JSON of thousands of offers takes several times the memory. */
export interface LiveRevision extends Chained {
  /** By name, in the order of display. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** The drafts of each channel, those of hidden channels included. No answer to a client may contain them. */
  readonly drafts: readonly WaitingDraft[];
  /** See {@link shownNameOf}. */
  readonly displayName: string | null;
  /** The stored document, for the saved state. */
  readonly document: Uint8Array;
}

/** What a service knows of a release that a channel holds back. */
interface WaitingDraft extends Pick<DraftJson, 'since' | 'opens'> {
  readonly channel: string;
}

/** The catalog revisions of an application, for a service. It reads and refuses the same documents as a publisher. */
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
      const expected = { key: key(number), fields: { application, revision: number } };
      const steps = parseEnvelopeInSteps(document, { ...expected, ...createOfferReader() });
      const live = await runInTurns(steps).catch((error: unknown) => {
        if (!isAppError(error) || isFinal(error)) throw error;
        return undefined;
      });
      if (live !== undefined) return liveOf(live.signed, live.signed, live.digest, document);
      // Another spelling of a sound document; or one that is refused, with the reason.
      const { signed, digest } = await sequence.parse(document, number);
      const channels = await runInTurns(channelsInSteps(signed));
      return liveOf(signed, { channels, drafts: waitingDrafts(signed.channels) }, digest, document);
    },
  };
}

/** Whether a check of the whole document would refuse it for the same reason. */
function isFinal({ code, cause }: AppError): boolean {
  return code === 'document_newer' || cause instanceof SyntaxError;
}

function liveOf(
  signed: Chained['signed'] & { readonly settings?: SettingsJson | undefined },
  { channels, drafts }: Pick<LiveRevision, 'channels' | 'drafts'>,
  digest: string,
  document: Uint8Array,
): LiveRevision {
  const { revision, previous, skipped, settings } = signed;
  const displayName = shownNameOf(settings);
  return {
    signed: { revision, previous, skipped },
    digest,
    channels,
    drafts,
    displayName,
    document,
  };
}

function waitingDrafts(
  channels: Readonly<Record<string, { readonly drafts?: readonly DraftJson[] | undefined }>>,
): readonly WaitingDraft[] {
  return Object.entries(channels).flatMap(([channel, { drafts = [] }]) =>
    drafts.map(({ since, opens }) => ({ channel, since, opens })),
  );
}

/** An item of a list that was checked against its schema. */
class Checked<T> {
  readonly item: T;
  constructor(item: T) {
    this.item = item;
  }
}
class CheckedOffer extends Checked<Channel['offers'][number]> {}
class CheckedVersion extends Checked<string> {}
class CheckedOther extends Checked<unknown> {}

class CheckedDraft extends Checked<DraftJson> {}

type Signed = Omit<RevisionJson, 'channels' | 'removed_versions'> &
  Pick<LiveRevision, 'channels' | 'drafts'>;

/**
 * Checks and parses each offer while the text is parsed: the JSON of all offers is never in memory at once. Any
 * failure means that the document has to be parsed as a whole.
 */
function createOfferReader(): {
  readonly converters: ItemConverters;
  readonly check: Check<Signed>;
} {
  const offerOf = createOfferParser();
  return {
    converters: new Map<string, (item: unknown) => object>([
      ['offers', (item) => new CheckedOffer(offerOf(offerSchema.parse(item)))],
      ['retired', (item) => new CheckedVersion(versionSchema.parse(item))],
      ['removed_versions', (item) => new CheckedVersion(versionSchema.parse(item))],
      ['kept_out', (item) => new CheckedOther(keptOutSchema.parse(item))],
      ['drafts', (item) => new CheckedDraft(draftSchema.parse(item))],
      ['discarded', (item) => new CheckedOther(discardedSchema.parse(item))],
    ]),
    check: function* (value) {
      const outline = revisionOutlineSchema.safeParse(value);
      if (!outline.success) throw unchecked();
      const channels = new Map<string, Channel>();
      for (const [name, channel] of visibleChannels(outline.data.channels)) {
        const offers = yield* itemsOf(channel.offers, CheckedOffer);
        const retired = yield* itemsOf(channel.retired, CheckedVersion);
        const { kept_out: keptOut = [], discarded = [] } = channel;
        const others = yield* itemsOf([...keptOut, ...discarded], CheckedOther);
        if (offers === undefined || retired === undefined || others === undefined) {
          throw unchecked();
        }
        channels.set(name, channelOf(name, channel, offers, retired));
      }
      const drafted: Record<string, { readonly drafts: readonly DraftJson[] }> = {};
      for (const [name, channel] of Object.entries(outline.data.channels)) {
        const drafts = yield* itemsOf(channel.drafts ?? [], CheckedDraft);
        if (drafts === undefined) throw unchecked();
        drafted[name] = { drafts };
      }
      const removed = yield* itemsOf(outline.data.removed_versions ?? [], CheckedVersion);
      if (removed === undefined) throw unchecked();
      return { success: true, data: { ...outline.data, channels, drafts: waitingDrafts(drafted) } };
    },
  };
}

/** Also for a sound document that was not in its canonical form: its lists were not converted. */
function unchecked(): AppError {
  return new AppError('document_corrupt', 'The revision could not be checked in parts.');
}

/** The items of a list; undefined when one was not checked. */
function* itemsOf<T>(
  list: readonly unknown[],
  kind: new (item: T) => Checked<T>,
): Steps<readonly T[] | undefined> {
  const items = yield* mapInSteps(list, (checked) =>
    checked instanceof kind ? [checked.item] : [],
  );
  const checked = items.flat();
  return checked.length === list.length ? checked : undefined;
}
