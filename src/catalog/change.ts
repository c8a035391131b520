import { AppError, isAppError } from '../core/errors.ts';
import type { Release } from '../domain/release.ts';
import {
  type AppendDeps,
  type AppendOptions,
  appendDocument,
  type Base,
} from '../store/sequence/append.ts';
import { SCHEMA_VERSION } from '../store/sequence/envelope.ts';
import { seal } from '../store/sequence/sealed.ts';
import { type Announced, findNewestListed } from '../store/sequence/sequence.ts';
import { changedTargets } from './changed-targets.ts';
import { manifestOf } from './documents/manifest-document.ts';
import {
  type ChangeKind,
  type ChannelJson,
  type RevisionJson,
  SUMMARY_LENGTH_MAX,
} from './documents/revision-document.ts';
import { jsonBytes, REVISION_BYTES_MAX, withdrawnBytes } from './documents/revision-size.ts';
import type { SettingsJson } from './documents/settings-document.ts';
import {
  announceChange,
  findLastHint,
  ignoreUnreadable,
  lostApplication,
  readNewestHints,
} from './following/hints.ts';
import { releaseCount } from './fullness-text.ts';
import { type ManifestReference, referenceTo } from './read.ts';
import {
  type Applications,
  applicationsSequence,
  manifestSequence,
  type Revision,
  revisionSequence,
} from './sequences.ts';

/** Writes the catalog: reads the newest documents and commits the next ones. */

export interface WriterDeps extends AppendDeps {
  /** The user and machine that publish, for the history: `ada@build-7`. */
  readonly actor: string;
  /**
   * The catalog revision that the person who makes the change has seen. With a newer one, the change is refused.
   * Absent: the change is made to the newest state.
   */
  readonly seenRevision?: number;
  /**
   * Called after all checks and before each commit, with the kind of the change. Called again when another writer was
   * first. An error that it throws refuses the change.
   */
  readonly beforeCommit?:
    | ((
        kind: ChangeKind,
        states: { readonly before: Channels; readonly after: Channels },
      ) => Promise<void>)
    | undefined;
  /** A catalog revision that a manifest names and that is above the newest stored one. */
  readonly named?: Announced | undefined;
}

export type Channels = Readonly<Record<string, ChannelJson>>;

interface CatalogChange {
  readonly kind: ChangeKind;
  /** Null when the change is about a channel or about settings. */
  readonly version: string | null;
  readonly channels: readonly string[];
  readonly reason: string | null;
  /** What the kind does not say, for the history: `25%`. It is cut to {@link SUMMARY_LENGTH_MAX}. */
  readonly summary?: string | undefined;
}

interface CatalogEdit {
  readonly change: CatalogChange;
  readonly channels: Channels;
  /** Versions that no channel remembers after the change: see `removed_versions` of a revision. */
  readonly removedVersions?: readonly string[];
  /** The settings of the application after the change; absent: they stay. */
  readonly settings?: SettingsJson;
  /** Whether the change adds text to offers, so that it is refused when there is no room. */
  readonly needsRoom?: boolean;
}

/** What a change is made from, beside the channels. */
interface Present {
  /** The number of the next revision. */
  readonly revision: number;
  /** See {@link CatalogEdit.removedVersions}. */
  readonly removedVersions: readonly string[];
  readonly settings: SettingsJson;
}

export interface Committed {
  readonly revision: number;
  /** False when the catalog already was in the wanted state. */
  readonly changed: boolean;
  /** Whether the hint for running services was stored; without it they find the change when they read in turn. */
  readonly announced: boolean;
  /** The channels before the change and after it; equal when nothing changed. */
  readonly before: Channels;
  readonly after: Channels;
}

/**
 * Commits one change to the state of an application's channels.
 *
 * @param edit gets the present state; returns the new state, or undefined when nothing has to change; called again
 *   with the newer state whenever another writer was first, so it must contain every check
 * @throws AppError those of {@link appendDocument}; `state_changed`; `document_too_large` also when there is no room for
 *   another offer; what `edit` throws
 */
export async function changeCatalog(
  deps: WriterDeps,
  application: string,
  edit: (
    channels: Channels,
    present: Present,
  ) => CatalogEdit | undefined | Promise<CatalogEdit | undefined>,
): Promise<Committed> {
  let hint = 0;
  let before: Channels = {};
  let after: Channels = {};
  const make = async (base: Base<Revision>): Promise<Revision | undefined> => {
    const previous = base.newest?.document;
    refuseUnseen(deps, application, previous?.signed);
    before = previous?.signed.channels ?? {};
    const removedBefore = previous?.signed.removed_versions ?? [];
    const settingsBefore = previous?.signed.settings ?? {};
    const edited = await edit(before, {
      revision: base.number,
      removedVersions: removedBefore,
      settings: settingsBefore,
    });
    after = edited?.channels ?? before;
    if (edited === undefined) return undefined;
    const removed = [...new Set([...removedBefore, ...(edited.removedVersions ?? [])])];
    const settings = edited.settings ?? settingsBefore;
    if (edited.needsRoom === true || ADDS.has(edited.change.kind))
      refuseTooLarge(application, edited.channels, removed);
    await deps.beforeCommit?.(edited.change.kind, { before, after });
    // For a first revision, the newest hint is looked up only when the change is announced.
    if (previous !== undefined) hint = await findHint(deps, previous.signed.hint ?? 0);
    return seal({
      schema_version: SCHEMA_VERSION,
      type: 'catalog_revision' as const,
      application,
      revision: base.number,
      previous:
        previous === undefined
          ? null
          : { revision: previous.signed.revision, digest: previous.digest },
      ...header(deps, base),
      hint,
      change: {
        ...edited.change,
        channels: [...edited.change.channels],
        targets: changedTargets(before, edited.channels),
        summary: edited.change.summary?.slice(0, SUMMARY_LENGTH_MAX) ?? null,
      },
      channels: edited.channels,
      ...(removed.length === 0 ? {} : { removed_versions: removed }),
      ...(Object.keys(settings).length === 0 ? {} : { settings }),
    });
  };
  const { named } = deps;
  const appended = await appendDocument(deps, revisionSequence(application), make, { named });
  if (appended.outcome === 'unchanged') {
    const revision = appended.newest?.number ?? 0;
    return { revision, changed: false, announced: false, before, after: before };
  }
  const announced = await announceChange(deps, application, hint, appended.entry.number);
  return { revision: appended.entry.number, changed: true, announced, before, after };
}

/**
 * Refuses a change when the catalog is newer than what the person who makes it has seen.
 *
 * @throws AppError `state_changed`
 */
export function refuseUnseen(
  { seenRevision }: Pick<WriterDeps, 'seenRevision'>,
  application: string,
  newest: RevisionJson | undefined,
): void {
  if (seenRevision === undefined || newest === undefined) return;
  const { revision, by, change } = newest;
  if (revision === seenRevision) return;
  const what = [change.kind, change.version].filter((word) => word !== null).join(' ');
  throw new AppError(
    'state_changed',
    `${application} was changed meanwhile: revision ${revision} by ${by} (${what}). You saw revision ${seenRevision}, so nothing was changed. Look at the new state, and decide again.`,
  );
}

/** A failure with hints must not prevent the commit of a change. */
async function findHint(deps: WriterDeps, from: number): Promise<number> {
  return findLastHint(deps.store, from).catch((error: unknown) => {
    if (!isAppError(error)) throw error;
    return from;
  });
}

/** The changes that add offers or drafts. All other changes must be possible even when a revision is at its size limit. */
const ADDS: ReadonlySet<ChangeKind> = new Set(['publish', 'draft', 'promote']);

function refuseTooLarge(
  application: string,
  channels: Channels,
  removedVersions: readonly string[],
): void {
  if (withdrawnBytes(channels) + jsonBytes(removedVersions) <= REVISION_BYTES_MAX) return;
  throw new AppError(
    'document_too_large',
    `${application} has no room for another release: it has ${releaseCount(channels) - 1}, and room must remain to yank each of them. Retire old releases first: slipway retire VERSION. Nothing was changed.`,
  );
}

interface ManifestOptions extends AppendOptions {
  /** The newest catalog revision; 0 for none. */
  readonly catalogRevision: number;
}

/**
 * Commits the next manifest of a version.
 *
 * @param edit returns the release to store, made from the newest manifest's; undefined keeps that manifest
 * @throws AppError those of {@link appendDocument}; what `edit` throws
 */
export async function changeManifest(
  deps: WriterDeps,
  application: string,
  version: string,
  edit: (newest: ManifestReference | undefined) => Promise<Release | undefined>,
  { catalogRevision, ...options }: ManifestOptions,
): Promise<ManifestReference> {
  const sequence = manifestSequence(application, version);
  const appended = await appendDocument(
    deps,
    sequence,
    async (base) => {
      const release = await edit(referenceTo(base.newest?.document));
      if (release === undefined) return undefined;
      const { change_id: changeId, at, by, skipped } = header(deps, base);
      return seal(
        manifestOf(release, { number: base.number, changeId, at, by, skipped, catalogRevision }),
      );
    },
    options,
  );
  const manifest =
    appended.outcome === 'created' ? appended.entry.document : appended.newest?.document;
  const reference = referenceTo(manifest);
  if (reference === undefined) {
    throw new AppError('internal', `No manifest of ${application} ${version} was made.`);
  }
  return reference;
}

/**
 * Adds an application to the list of applications, unless it is listed.
 *
 * @throws as {@link changeCatalog}; `store_denied` when the credentials may only publish other applications
 */
export async function registerApplication(deps: WriterDeps, name: string): Promise<void> {
  const { hint, named } = await findLostList(deps);
  const make = (base: Base<Applications>): Applications | undefined => {
    const known = base.newest?.document.signed.applications ?? [];
    if (known.some((application) => application.name === name)) return undefined;
    const created = header(deps, base);
    return seal({
      schema_version: SCHEMA_VERSION,
      type: 'applications' as const,
      number: base.number,
      ...created,
      hint,
      applications: [...known, { name, created_at: created.at }],
    });
  };
  await appendDocument(deps, applicationsSequence, make, { named }).catch((error: unknown) => {
    // A directory has no credentials, and its own message says what to do.
    if (!isAppError(error, 'store_denied') || deps.store.identify !== undefined) throw error;
    throw new AppError(
      'store_denied',
      `There is no application ${name}, and these credentials may not create one. An admin, whose credentials may write applications/, creates it: slipway channels create stable --app ${name} --create. ${error.message}`,
      { cause: error },
    );
  });
}

/** Finds the number of a deleted list: the newest hints announce an application that the newest list lacks. */
async function findLostList({ store }: WriterDeps): Promise<{ hint: number; named?: Announced }> {
  const { newest } = await findNewestListed(store, applicationsSequence);
  const from = newest?.document.signed.hint ?? 0;
  const hints = await readNewestHints(store, from).catch(ignoreUnreadable);
  if (hints === undefined) return { hint: from };
  const { applications = [] } = newest?.document.signed ?? {};
  const lost = lostApplication(
    hints.announced,
    applications.map(({ name }) => name),
    from,
  );
  const hint = hints.last;
  return lost === undefined
    ? { hint }
    : { hint, named: { number: (newest?.number ?? 0) + 1, by: lost.by } };
}

function header<T>(deps: WriterDeps, base: Base<T>) {
  return {
    skipped: [...base.skipped],
    change_id: base.changeId,
    at: new Date(deps.clock.now()).toISOString(),
    by: deps.actor,
  };
}
