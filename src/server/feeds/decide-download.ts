import type { DownloadKind } from '../../usage/counts.ts';

/** Decides how a request for a file is counted. Pure. */

/** A request for an artifact, or for a delta of it. */
export interface FileRequest {
  /** The kind of the download that this request would begin. */
  readonly kind: BegunKind;
  readonly isDelta: boolean;
  /** The bytes from the first to the last that the client asks for; undefined: it asks for the whole file. */
  readonly part: Stretch | undefined;
}

export type BegunKind = 'whole' | 'differential' | 'resumed';

/** Bytes of a file, without the one at `end`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The earlier requests that belong together. */
export interface SeenDownload {
  /** The kind that was counted. */
  readonly kind: BegunKind;
  /** True when the newest request asked for a part of the file, or for a delta. */
  readonly hadRanges: boolean;
}

/** The earlier requests from one network address that named no client. */
export interface SeenAddress {
  readonly kind: BegunKind;
  /** The parts that were asked for, from first to last, with the gaps between the ranges of one download. */
  readonly asked: readonly Stretch[];
  /** True when the requests may come from several clients. */
  readonly isMixed: boolean;
  /** The UTC day of the last count, in days since the Unix epoch. */
  readonly day: number;
}

export interface Decided<Seen> {
  readonly counted: readonly DownloadKind[];
  readonly seen: Seen;
}

/**
 * Counts a request of a client that an installation id or a token names.
 *
 * A request with ranges belongs to the same download as all earlier requests of the client. A request for a whole file
 * counts each time, except after ranges: electron-updater asks for the whole file when a differential download fails,
 * which is a `fallback`. So does a client that cannot apply a delta.
 */
export function decideForClient(
  request: FileRequest,
  before: SeenDownload | undefined,
): Decided<SeenDownload> {
  const { kind, isDelta, part } = request;
  const isPart = isDelta || part !== undefined;
  const isWholeDelta = isDelta && part === undefined;
  if (before === undefined || isWholeDelta || (!isPart && !before.hadRanges)) {
    return { counted: [kind], seen: { kind, hadRanges: isPart } };
  }
  // A request for the whole file completes the ranges before it; a second such request is another download.
  const seen = { kind: isPart ? before.kind : kind, hadRanges: isPart };
  return { counted: !isPart && before.kind === 'differential' ? ['fallback'] : [], seen };
}

/** A download that is not known, and was not counted yet. */
const NOT_KNOWN: readonly DownloadKind[] = ['differential', 'not_known'];

/**
 * Counts a request that only a network address names. Any number of clients may share the address, so the requests are
 * one download only while they look like one: each range lies in a part of the file that was not asked for before, and
 * no request for the whole file follows. After an overlap, this file is not known for the address, until a pause of ten
 * minutes.
 *
 * Two clients whose ranges never meet would count as one. Updates of the same file do meet: the first block of an
 * installer, the last one of a zip and the block map in an AppImage change with each version.
 *
 * @param day UTC, in days since the Unix epoch
 */
export function decideForAddress(
  request: FileRequest,
  before: SeenAddress | undefined,
  day: number,
): Decided<SeenAddress> {
  if (before === undefined) return begin(request, day);
  const { kind, isDelta, part } = request;
  const { asked } = before;
  if (before.isMixed) {
    // Each day says that there were downloads, also when the ranges of many clients follow each other without a pause.
    const isCounted = part === undefined || before.day !== day;
    const seen = isCounted ? { ...before, day } : before;
    return { counted: isCounted ? NOT_KNOWN : [], seen };
  }
  const onlyWhole = before.kind === 'whole' && asked.length === 0;
  if (isDelta) {
    const continues = part !== undefined && before.kind === 'differential';
    return continues ? { counted: [], seen: before } : begin(request, day);
  }
  if (part === undefined) return onlyWhole ? begin(request, day) : mix(before, day);
  if (onlyWhole) {
    if (kind === 'resumed') return { counted: [], seen: before };
    return kind === 'differential' ? begin(request, day) : mix(before, day);
  }
  const more = asked.length === 0 || before.kind === 'resumed' ? undefined : addPart(asked, part);
  return more === undefined ? mix(before, day) : { counted: [], seen: { ...before, asked: more } };
}

function begin({ kind, isDelta, part }: FileRequest, day: number): Decided<SeenAddress> {
  const asked = part === undefined || isDelta ? [] : [part];
  return { counted: [kind], seen: { kind, asked, isMixed: false, day } };
}

/** A counted differential download becomes not known. For other kinds, adds one download that is not known. */
function mix(before: SeenAddress, day: number): Decided<SeenAddress> {
  const counted: readonly DownloadKind[] =
    before.kind === 'differential' ? ['not_known'] : NOT_KNOWN;
  return { counted, seen: { ...before, asked: [], isMixed: true, day } };
}

/** Updaters ask from front to back, and AppImages for their end first. So a client makes few stretches. */
const STRETCHES_MAX = 8;

/**
 * Adds a part that no earlier request reached. The gap to the stretch before it counts as asked for: one client does not
 * go back.
 *
 * @param asked from front to back
 * @returns undefined when another client may have asked for the part
 */
function addPart(asked: readonly Stretch[], part: Stretch): readonly Stretch[] | undefined {
  if (asked.some(({ start, end }) => start < part.end && part.start < end)) return undefined;
  const after = asked.findIndex(({ start }) => start >= part.end);
  const below = after === -1 ? asked : asked.slice(0, after);
  const above = after === -1 ? [] : asked.slice(after);
  const last = below.at(-1);
  const added = last === undefined ? part : { start: last.start, end: part.end };
  const all = [...below.slice(0, -1), added, ...above];
  return all.length > STRETCHES_MAX ? undefined : all;
}
