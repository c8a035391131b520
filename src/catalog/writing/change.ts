import { AppError, isAppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import {
  type AppendDeps,
  appendDocument,
  type Base,
  type FoundOptions,
} from '../../store/sequence/append.ts';
import { SCHEMA_VERSION } from '../../store/sequence/envelope.ts';
import { seal } from '../../store/sequence/sealed.ts';
import {
  type Announced,
  findNewestListed,
  findPresent,
  type Position,
  type Sequence,
} from '../../store/sequence/sequence.ts';
import { manifestOf } from '../documents/manifest-document.ts';
import {
  type ChangeKind,
  type Channels,
  type OfferJson,
  type RevisionJson,
  SIGNED_REVISION_VERSION,
  SUMMARY_LENGTH_MAX,
} from '../documents/revision-document.ts';
import { fullnessOf, jsonBytes } from '../documents/revision-size.ts';
import type { SettingsJson } from '../documents/settings-document.ts';
import type { MetadataReference, TrustJson } from '../documents/trust-document.ts';
import { releaseCount } from '../reading/fullness-text.ts';
import {
  announceChange,
  findLastHint,
  ignoreUnreadable,
  lostApplication,
  readNewestHints,
} from '../reading/hints.ts';
import { type ManifestReference, readRevisionPosition, referenceTo } from '../reading/read.ts';
import {
  type Applications,
  applicationsSequence,
  type Manifest,
  manifestSequence,
  type Revision,
  revisionSequence,
} from '../reading/sequences.ts';
import type { Trust } from '../trust/trust.ts';
import { changedTargets } from './changed-targets.ts';

/** Writes the catalog: reads the newest documents, and commits the next documents. */

export interface WriterDeps extends AppendDeps {
  /** The user and machine that publish, for the history: `ada@build-7`. */
  readonly actor: string;
  /**
   * The catalog revision that the person who makes the change has seen. When the store has a newer revision, the writer
   * refuses the change. Absent: the change is made to the newest state.
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
  /** Undefined: signatures of catalogs do not matter, and the writer signs nothing. */
  readonly trust?: Trust | undefined;
  /** By channel: the next versions of roles that people have signed. Absent: none. */
  readonly signedRoles?: Readonly<Record<string, MetadataReference>> | undefined;
  /** True for a rehearsal of what happens once people have signed. */
  readonly assumesSigned?: boolean;
  /** See `SigningDeps`. */
  readonly signsNoRole?: boolean;
  /** A catalog revision that a manifest names, with a number above the newest stored revision. */
  readonly named?: Announced | undefined;
}

interface CatalogChange {
  readonly kind: ChangeKind;
  /** Null when the change is about a channel or about settings. */
  readonly version: string | null;
  readonly channels: readonly string[];
  readonly reason: string | null;
  /** A detail for the history that the kind does not state: `25%`. The writer cuts it to {@link SUMMARY_LENGTH_MAX}. */
  readonly summary?: string | undefined;
}

export interface CatalogEdit {
  readonly change: CatalogChange;
  readonly channels: Channels;
  /** Versions that no channel remembers after the change: see `removed_versions` in a revision. */
  readonly removedVersions?: readonly string[];
  /** The settings of the application after the change; absent: the settings stay. */
  readonly settings?: SettingsJson;
  /** An offer that stays as it is, and that the publisher signs again, because its signatures were lost. */
  readonly signsAgain?: { readonly channel: string; readonly offer: OfferJson } | undefined;
  /** True when the change adds text to offers. The writer then refuses the change when the catalog has no room. */
  readonly needsRoom?: boolean;
}

/** The state of a catalog. */
export interface CatalogState {
  readonly channels: Channels;
  /** See {@link CatalogEdit.removedVersions}. */
  readonly removedVersions: readonly string[];
  readonly settings: SettingsJson;
  /** See `trust` in a revision. */
  readonly trust: TrustJson | undefined;
  /** The number of the next revision, as far as the process knows. */
  readonly next: number;
}

/** The state of a catalog; without a revision, the state of a new application. */
export function catalogState(revision: Revision | undefined): CatalogState {
  const {
    channels = {},
    removed_versions: removedVersions = [],
    settings = {},
    trust,
  } = revision?.signed ?? {};
  const next = (revision?.signed.revision ?? 0) + 1;
  return { channels, removedVersions, settings, trust, next };
}

/** The state from which a change is made, without the channels. */
interface Present extends Omit<CatalogState, 'channels'> {
  /** The number of the next revision. */
  readonly revision: number;
}

export interface Committed {
  readonly revision: number;
  /** False when the catalog already was in the wanted state. */
  readonly changed: boolean;
  /** True when the hint for running services was stored. Without the hint, they find the change when they poll. */
  readonly announced: boolean;
  /** The channels before the change and after it; equal when nothing changed. */
  readonly before: Channels;
  readonly after: Channels;
  /** The versions that no channel remembers after the change. */
  readonly removedVersions: readonly string[];
}

/** The decision of one attempt to change the catalog. */
interface CatalogPlan<P> {
  /** The change to commit; undefined when nothing has to change. */
  readonly edit: CatalogEdit | undefined;
  /** The facts about the attempt that the caller needs when the change is committed. */
  readonly plan: P;
}

/** The documents from which a publisher makes the next manifest and the next revision. */
export interface CommitBase {
  readonly revisions: Position<Revision>;
  readonly manifests: Position<Manifest>;
  /** The number of the newest hint, or of an older one; undefined when the publisher had read no revision before. */
  readonly hint: number | undefined;
}

/**
 * Finds the documents on which a commit builds. When the publisher has read the catalog before, all requests run at the
 * same time.
 *
 * @throws AppError `document_corrupt` when the present state of the catalog is unknown
 */
export async function findCommitBase(
  deps: WriterDeps,
  application: string,
  version: string,
): Promise<CommitBase> {
  const manifests = manifestSequence(application, version);
  const known = deps.newestKnown?.get(revisionSequence(application, deps.trust))?.document.signed;
  const hints = known && readNewestHints(deps.store, known.hint ?? 0).catch(ignoreUnreadable);
  const [found, ofVersion, newest] = await Promise.all([
    readRevisionPosition(deps, application, deps.named, hints),
    findPresent(deps.store, manifests, deps.newestKnown?.get(manifests)),
    hints,
  ]);
  return { revisions: found, manifests: ofVersion, hint: newest?.last ?? known?.hint };
}

/**
 * Commits one change to the state of an application's channels.
 *
 * @param base found by {@link findCommitBase} just before; absent: the change begins with a search
 * @param planOn gets the present state and plans the change. When another writer was first, `changeCatalog` calls
 *   `planOn` again with the newer state, so `planOn` must make every check.
 * @returns the `plan` of the attempt that was stored, also when the store's answer to that attempt was lost; when
 *   nothing had to change, the plan of the last attempt
 * @throws AppError as {@link appendDocument}; `state_changed`; `document_too_large` also when there is no room for
 *   another offer; every error that `planOn` throws
 */
export async function changeCatalog<P>(
  deps: WriterDeps,
  application: string,
  planOn: (channels: Channels, present: Present) => CatalogPlan<P> | Promise<CatalogPlan<P>>,
  base?: Pick<CommitBase, 'revisions' | 'hint'>,
): Promise<Committed & { readonly plan: P }> {
  const { named } = deps;
  const { appended, plan: planned } = await appendPlanned(
    deps,
    revisionSequence(application, deps.trust),
    async (attempt) => {
      const previous = attempt.newest?.document;
      await refuseWithoutRoot(deps, application, previous);
      refuseUnseen(deps, application, previous?.signed);
      const { channels: before, ...present } = catalogState(previous);
      const { edit, plan } = await planOn(before, { revision: attempt.number, ...present });
      if (edit === undefined) {
        const { removedVersions } = present;
        return {
          document: undefined,
          plan: { plan, before, after: before, removedVersions, hint: 0 },
        };
      }
      const removedVersions = [
        ...new Set([...present.removedVersions, ...(edit.removedVersions ?? [])]),
      ];
      const settings = edit.settings ?? present.settings;
      const adds = ADDS.has(edit.change.kind);
      if (edit.needsRoom === true || adds)
        refuseTooLarge(application, edit.channels, removedVersions);
      await deps.beforeCommit?.(edit.change.kind, { before, after: edit.channels });
      const signing = await loadSigning(deps, application);
      const prepared = await signing?.prepareTrust(deps, {
        application,
        number: attempt.number,
        previous: previous?.signed,
        after: edit.channels,
        isRootChange: edit.change.kind === 'trust',
        adds,
        signsAgain: edit.signsAgain,
      });
      const { trust, channels: after } = prepared ?? { trust: undefined, channels: edit.channels };
      // For a first revision, `announceChange` looks for the newest hint later.
      const { hint: known = 0 } = previous?.signed ?? {};
      const hint = previous === undefined ? 0 : await findHint(deps, known, base?.hint);
      const unsigned: Revision = seal({
        schema_version: trust === undefined ? SCHEMA_VERSION : SIGNED_REVISION_VERSION,
        type: 'catalog_revision' as const,
        application,
        revision: attempt.number,
        previous:
          previous === undefined
            ? null
            : { revision: previous.signed.revision, digest: previous.digest },
        ...header(deps, attempt),
        hint,
        change: {
          ...edit.change,
          channels: [...edit.change.channels],
          targets: changedTargets(before, after),
          summary: edit.change.summary?.slice(0, SUMMARY_LENGTH_MAX) ?? null,
        },
        channels: after,
        ...(removedVersions.length === 0 ? {} : { removed_versions: removedVersions }),
        ...(Object.keys(settings).length === 0 ? {} : { settings }),
        ...(trust === undefined ? {} : { trust }),
      });
      const document = signing === undefined ? unsigned : await signing.signed(deps, unsigned);
      return { document, plan: { plan, before, after, removedVersions, hint } };
    },
    { named, found: base?.revisions },
  );
  const { hint, ...stored } = planned;
  if (appended.outcome === 'unchanged') {
    const revision = appended.newest?.number ?? 0;
    return { revision, changed: false, announced: false, ...stored };
  }
  const { number: revision, document } = appended.entry;
  const signing = await loadSigning(deps, application);
  const [announced] = await Promise.all([
    announceChange(deps, application, hint, revision),
    signing?.freshenAfter(deps, document),
  ]);
  return { revision, changed: true, announced, ...stored };
}

/** Loads the code that signs only for a signed catalog: loading it takes longer than the rest of many commands. */
async function loadSigning({ trust }: WriterDeps, application: string) {
  return trust?.of(application) && import('./signing.ts');
}

/**
 * Commits one change to a sequence.
 *
 * @param attempt makes the next document, and the plan that the caller needs when the store takes this document
 * @returns the plan of the stored document; when nothing had to change, the plan of the last attempt
 * @throws AppError as {@link appendDocument}
 */
async function appendPlanned<T, P>(
  deps: WriterDeps,
  sequence: Sequence<T>,
  attempt: (base: Base<T>) => Promise<{ readonly document: T | undefined; readonly plan: P }>,
  options: FoundOptions<T>,
) {
  // The last attempt for each number. Only that attempt can be the stored document of the number.
  const plans = new Map<number, { readonly plan: P }>();
  const appended = await appendDocument(
    deps,
    sequence,
    async (base) => {
      const { document, plan } = await attempt(base);
      plans.set(base.number, { plan });
      return document;
    },
    options,
  );
  const number = appended.outcome === 'created' ? appended.entry.number : appended.number;
  const planned = plans.get(number);
  if (planned === undefined) {
    throw new AppError('internal', `No attempt was made for number ${number} of ${sequence.name}.`);
  }
  return { appended, plan: planned.plan };
}

/**
 * Refuses a change when the catalog is newer than the revision that the person who makes the change has seen.
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

/**
 * Refuses to change a signed application whose root of trust is not installed here, also when TRUST_UNSIGNED names it.
 *
 * @param newest the newest revision; absent: the process has read it before
 * @throws AppError `root_missing`
 */
export async function refuseWithoutRoot(
  { trust }: Pick<WriterDeps, 'trust'>,
  application: string,
  newest?: Revision,
): Promise<void> {
  await trust?.withoutRoot(application)?.refuseChange(newest);
}

/**
 * A failure with hints must not prevent the commit of a change.
 *
 * @param found the newest hint that the process has seen; absent: none
 */
async function findHint(deps: WriterDeps, from: number, found = -1): Promise<number> {
  if (found >= from) return found;
  return findLastHint(deps.store, from).catch((error: unknown) => {
    if (!isAppError(error)) throw error;
    return from;
  });
}

/**
 * The changes that add offers or drafts. All other changes must be possible even when a revision is at its size limit.
 */
const ADDS: ReadonlySet<ChangeKind> = new Set(['publish', 'draft', 'promote']);

function refuseTooLarge(
  application: string,
  channels: Channels,
  removedVersions: readonly string[],
): void {
  const bytes = jsonBytes(channels) + jsonBytes(removedVersions);
  if (fullnessOf(bytes, channels) <= 1) return;
  throw new AppError(
    'document_too_large',
    `${application} has no room for another release: it has ${releaseCount(channels) - 1}, and room must remain to yank each of them. Retire old releases first: slipway retire VERSION. Nothing was changed.`,
  );
}

interface ManifestOptions extends FoundOptions<Manifest> {
  /** The newest catalog revision; 0 for none. */
  readonly catalogRevision: number;
  /** The channels for which the manifest is made: its maker signs it for them. */
  readonly channels?: readonly string[];
}

/** The manifest that a change needs. */
export interface WantedManifest {
  readonly release: Release;
  /** A stored manifest that states exactly this release; undefined when the writer has to make one. */
  readonly kept: ManifestReference | undefined;
}

/**
 * Commits the next manifest of a version, unless the store has the wanted manifest.
 *
 * @param want gets the newest manifest and returns the wanted one; `changeManifest` calls it again whenever another
 *   writer was first
 * @throws AppError as {@link appendDocument}; every error that `want` throws
 */
export async function changeManifest(
  deps: WriterDeps,
  application: string,
  version: string,
  want: (newest: ManifestReference | undefined) => Promise<WantedManifest>,
  { catalogRevision, channels = [], ...options }: ManifestOptions,
): Promise<ManifestReference> {
  const { appended, plan: kept } = await appendPlanned(
    deps,
    manifestSequence(application, version),
    async (base) => {
      await refuseWithoutRoot(deps, application);
      const { release, kept } = await want(referenceTo(base.newest?.document));
      if (kept !== undefined) return { document: undefined, plan: kept };
      const { change_id: changeId, at, by, skipped } = header(deps, base);
      const numbered = { number: base.number, changeId, at, by, skipped, catalogRevision };
      const document: Manifest = seal(manifestOf(release, numbered));
      const trust = deps.trust?.of(application);
      if (trust === undefined) return { document, plan: undefined };
      const { signedManifest } = await import('./signing.ts');
      return { document: await signedManifest(deps, trust, channels, document), plan: undefined };
    },
    options,
  );
  const manifest = appended.outcome === 'created' ? referenceTo(appended.entry.document) : kept;
  if (manifest === undefined) {
    throw new AppError('internal', `No manifest of ${application} ${version} was made.`);
  }
  return manifest;
}

/**
 * Adds an application to the list of applications, unless the list has it.
 *
 * @throws AppError as {@link changeCatalog}; `store_denied` when the credentials may not write the list of applications
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
    // A store in a directory has no credentials, and the message of its error says what to do.
    if (!isAppError(error, 'store_denied') || deps.store.identify !== undefined) throw error;
    throw new AppError(
      'store_denied',
      `There is no application ${name}, and these credentials may not create one. An admin, whose credentials may write applications/, creates it: slipway channels create stable --app ${name} --create. ${error.message}`,
      { cause: error },
    );
  });
}

/**
 * Finds the number of a deleted list of applications. The list was deleted when the newest hints announce an
 * application that the newest list lacks.
 */
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
