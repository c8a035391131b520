import type { Channel } from '../domain/channel.ts';
import { AppError, isAppError } from '../errors.ts';
import { type Check, parseEnvelopeInSteps } from '../sequence/envelope.ts';
import type { ItemConverters } from '../sequence/json.ts';
import type { ReadableSequence } from '../sequence/read-checked.ts';
import type { FollowedSequence } from '../sequence/sequence.ts';
import { mapInSteps, runInTurns, type Steps } from '../steps.ts';
import type { Chained } from './chain.ts';
import { discardedSchema, draftSchema } from './draft-document.ts';
import { versionSchema } from './manifest-document.ts';
import {
  channelOf,
  channelsInSteps,
  createOfferParser,
  keptOutSchema,
  offerSchema,
  type RevisionJson,
  revisionOutlineSchema,
  visibleChannels,
} from './revision-document.ts';
import { revisionSequence } from './sequences.ts';

/** A catalog revision as a service keeps it: parsed JSON of thousands of offers takes several times the memory. */
export interface LiveRevision extends Chained {
  /** By name, in the order of display. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** The stored document, for the saved state. */
  readonly document: Uint8Array;
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
      if (live !== undefined)
        return liveOf(live.signed, live.signed.channels, live.digest, document);
      // Another spelling of a sound document; or one that is refused, with the reason.
      const { signed, digest } = await sequence.parse(document, number);
      return liveOf(signed, await runInTurns(channelsInSteps(signed)), digest, document);
    },
  };
}

/** Whether a check of the whole document would refuse it for the same reason. */
function isFinal({ code, cause }: AppError): boolean {
  return code === 'document_newer' || cause instanceof SyntaxError;
}

function liveOf(
  { revision, previous, skipped }: Chained['signed'],
  channels: LiveRevision['channels'],
  digest: string,
  document: Uint8Array,
): LiveRevision {
  return { signed: { revision, previous, skipped }, digest, channels, document };
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

type Signed = Omit<RevisionJson, 'channels' | 'removed_versions'> & Pick<LiveRevision, 'channels'>;

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
      ['drafts', (item) => new CheckedOther(draftSchema.parse(item))],
      ['discarded', (item) => new CheckedOther(discardedSchema.parse(item))],
    ]),
    check: function* (value) {
      const outline = revisionOutlineSchema.safeParse(value);
      if (!outline.success) throw unchecked();
      const channels = new Map<string, Channel>();
      for (const [name, channel] of visibleChannels(outline.data.channels)) {
        const offers = yield* itemsOf(channel.offers, CheckedOffer);
        const retired = yield* itemsOf(channel.retired, CheckedVersion);
        const { kept_out: keptOut = [], drafts = [], discarded = [] } = channel;
        const others = yield* itemsOf([...keptOut, ...drafts, ...discarded], CheckedOther);
        if (offers === undefined || retired === undefined || others === undefined) {
          throw unchecked();
        }
        channels.set(name, channelOf(name, channel, offers, retired));
      }
      const removed = yield* itemsOf(outline.data.removed_versions ?? [], CheckedVersion);
      if (removed === undefined) throw unchecked();
      return { success: true, data: { ...outline.data, channels } };
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
