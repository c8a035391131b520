import type { Channel } from '../domain/channel.ts';
import type { ReadableSequence } from '../sequence/read-checked.ts';
import type { FollowedSequence } from '../sequence/sequence.ts';
import { runInTurns } from '../steps.ts';
import type { Chained } from './chain.ts';
import { channelsInSteps } from './revision-document.ts';
import { revisionSequence } from './sequences.ts';

/** A catalog revision as a service keeps it: parsed JSON of thousands of offers takes several times the memory. */
export interface LiveRevision extends Chained {
  /** By name, in the order of display. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** The stored document, for the saved state. */
  readonly document: Uint8Array;
}

/** The catalog revisions of an application, for a service. A reader refuses the same documents as a publisher. */
export function liveRevisionSequence(
  application: string,
): ReadableSequence<LiveRevision> & FollowedSequence {
  const { key, name, documentBytesMax, corruptNewest, parse } = revisionSequence(application);
  return {
    key,
    name,
    documentBytesMax,
    corruptNewest,
    parse: async (document, number) => {
      const { signed, digest } = await parse(document, number);
      const channels = await runInTurns(channelsInSteps(signed));
      const { revision, previous, skipped } = signed;
      return { signed: { revision, previous, skipped }, digest, channels, document };
    },
  };
}
