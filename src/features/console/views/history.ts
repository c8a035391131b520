import { isDeepStrictEqual } from 'node:util';
import type {
  ChannelJson,
  Channels,
  RevisionJson,
} from '../../../catalog/documents/revision-document.ts';
import { type ReaderDeps, readRevision } from '../../../catalog/reading/read.ts';
import { AppError, isAppError } from '../../../core/errors.ts';
import { clientRows } from '../../../releases/forecast/client-rows.ts';
import { compareChannels } from '../../../releases/forecast/compare-channels.ts';
import { changedAnswers, changeRows } from '../../../releases/forecast/difference-text.ts';
import { foreseeChanges } from '../../../releases/forecast/foresee-changes.ts';
import type { SeenChecks } from '../../../releases/forecast/seen-checks.ts';
import {
  type HistoryEntry as ReadEntry,
  readHistory,
} from '../../../releases/list/read-history.ts';
import type { ClientRow, DifferenceRow, History, HistoryEntry, Revision } from '../answers.ts';

/** The number of entries on one page of the history. */
const ENTRIES_MAX = 50;

/**
 * @param before the page has only revisions below this one; undefined for the newest page
 * @param showsKeys true when the answer may name keys of the store
 * @throws AppError `unknown_application`; an error of the store
 */
export async function historyOf(
  deps: ReaderDeps,
  application: string,
  before: number | undefined,
  showsKeys: boolean,
): Promise<History> {
  const read = await readHistory(deps, application, { entriesMax: ENTRIES_MAX, before });
  const oldest = read.at(-1)?.revision ?? 1;
  return {
    application,
    entries: read.map((entry) => entryOf(entry, showsKeys)),
    next: oldest > 1 ? oldest : null,
  };
}

function entryOf(entry: ReadEntry, showsKeys: boolean): HistoryEntry {
  if ('problem' in entry) {
    const { revision } = entry;
    const problem = showsKeys ? entry.problem : 'This revision cannot be read.';
    return { ...NOTHING, revision, problem };
  }
  return describe(entry.document);
}

const NOTHING = {
  at: '',
  by: '',
  kind: '',
  version: null,
  channels: [],
  targets: [],
  summary: null,
  reason: null,
} as const;

function describe({ revision, at, by, change }: RevisionJson): HistoryEntry {
  const { kind, version, channels, targets, summary, reason } = change;
  return { revision, problem: null, at, by, kind, version, channels, targets, summary, reason };
}

/** One change, with its differences. @throws AppError `unknown_version`, `document_corrupt`; an error of the store */
export async function revisionOf(
  deps: ReaderDeps,
  application: string,
  number: number,
): Promise<Revision> {
  const signed = (await readRevision(deps, application, number))?.signed;
  if (signed === undefined) {
    throw new AppError('unknown_version', `${application} has no catalog revision ${number}.`);
  }
  const before = await readBefore(deps, application, signed);
  const entry = describe(signed);
  if (before === 'unreadable') {
    const problem = 'The revision before this one cannot be read: the difference is not known.';
    return { ...entry, problem, differences: [], clients: [] };
  }
  const states = { before, after: shareChannels(before, signed.channels) };
  // Compares the states at the time of the change, because rollouts may have advanced since.
  return { ...entry, ...differencesOf(states, Date.parse(signed.at)) };
}

async function readBefore(deps: ReaderDeps, application: string, { previous }: RevisionJson) {
  if (previous === null) return {};
  try {
    const revision = await readRevision(deps, application, previous.revision);
    return revision?.signed.channels ?? {};
  } catch (error) {
    if (isAppError(error, 'document_corrupt') || isAppError(error, 'unknown_version')) {
      return 'unreadable';
    }
    throw error;
  }
}

/**
 * Compares the states before and after a change: the channels, and the clients.
 *
 * @param now milliseconds since the epoch @param seen the checks that the services counted for the application
 */
export function differencesOf(
  states: Parameters<typeof compareChannels>[0],
  now: number,
  seen: readonly SeenChecks[] = [],
): { readonly differences: readonly DifferenceRow[]; readonly clients: readonly ClientRow[] } {
  return {
    differences: compareChannels(states, now)
      .flatMap(changeRows)
      .map(([sign, channel, what, detail]) => ({ sign, channel, what, detail })),
    clients: clientRows(foreseeChanges(states, now, seen), changedAnswers, states).map(
      ({ channel, targets, installed, gets: [before = '', after = ''] }) => ({
        channel,
        target: targets.join(', '),
        installed,
        before,
        after,
      }),
    ),
  };
}

/**
 * Returns the channels of a revision, and reuses the objects of the revision before it where they are equal. Two
 * revisions from the store share no object. Without shared objects, the comparison would make a decision for every
 * offer of every channel.
 */
function shareChannels(before: Channels, after: Channels): Channels {
  return Object.fromEntries(
    Object.entries(after).map(([name, channel]) => [name, shareChannel(before[name], channel)]),
  );
}

function shareChannel(before: ChannelJson | undefined, after: ChannelJson): ChannelJson {
  if (before === undefined) return after;
  const known = new Map(before.offers.map((offer) => [offer.version, offer]));
  const offers = after.offers.map((offer) => {
    const same = known.get(offer.version);
    return same !== undefined && isDeepStrictEqual(same, offer) ? same : offer;
  });
  const isSame =
    offers.length === before.offers.length &&
    offers.every((offer, index) => offer === before.offers[index]) &&
    isDeepStrictEqual({ ...before, offers: [] }, { ...after, offers: [] });
  return isSame ? before : { ...after, offers };
}
