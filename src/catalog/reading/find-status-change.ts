import { isAppError } from '../../core/errors.ts';
import type { OfferStatus } from '../../domain/offer.ts';
import type { RevisionJson } from '../documents/revision-document.ts';
import type { ReaderDeps } from './read.ts';
import { readRevision } from './read.ts';

/** Finds the times at which offers got their present status. */

export interface WantedOffer {
  readonly channel: string;
  readonly version: string;
}

export interface StatusChange extends WantedOffer {
  readonly status: OfferStatus;
  /** The number of the revision that gave the offer its status. */
  readonly revision: number;
  readonly at: string;
  readonly by: string;
}

/**
 * The most revisions that a search reads. Each revision repeats the whole state, and a person waits for these reads.
 */
const REVISIONS_MAX = 25;
/** The most offers that a search reads, in all revisions together: reading so many takes about a second. */
const OFFERS_MAX = 20_000;

/**
 * Looks for the changes in a revision and in earlier revisions. It reads {@link REVISIONS_MAX} revisions at most, or
 * fewer when there are thousands of offers, and it stops at a corrupt revision. It leaves out the offers whose change
 * it did not find.
 *
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function findStatusChanges(
  deps: ReaderDeps,
  application: string,
  newest: RevisionJson,
  wanted: readonly WantedOffer[],
): Promise<readonly StatusChange[]> {
  const found: StatusChange[] = [];
  let open = wanted.filter((offer) => statusIn(newest, offer) !== undefined);
  let revision = newest;
  const offers = Object.values(newest.channels).reduce((sum, each) => sum + each.offers.length, 0);
  const readsMax = Math.min(REVISIONS_MAX, Math.ceil(OFFERS_MAX / offers));
  for (let read = 0; read < readsMax && open.length > 0; read++) {
    const before = await readBefore(deps, application, revision);
    if (before === 'unreadable') break;
    const changed = open.filter((offer) => statusIn(before, offer) !== statusIn(newest, offer));
    for (const offer of changed) {
      const status = statusIn(newest, offer);
      const { revision: number, at, by } = revision;
      if (status !== undefined) found.push({ ...offer, status, revision: number, at, by });
    }
    open = open.filter((offer) => !changed.includes(offer));
    if (before === undefined) break;
    revision = before;
  }
  return found;
}

function statusIn(
  revision: RevisionJson | undefined,
  { channel, version }: WantedOffer,
): OfferStatus | undefined {
  return revision?.channels[channel]?.offers.find((offer) => offer.version === version)?.status;
}

/** Reads the revision from which a revision was made; undefined for the first revision. */
async function readBefore(
  deps: ReaderDeps,
  application: string,
  { previous }: RevisionJson,
): Promise<RevisionJson | undefined | 'unreadable'> {
  if (previous === null) return undefined;
  try {
    return (await readRevision(deps, application, previous.revision))?.signed;
  } catch (error) {
    if (isAppError(error, 'document_corrupt') || isAppError(error, 'unknown_version')) {
      return 'unreadable';
    }
    throw error;
  }
}
