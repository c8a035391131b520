import type { ExplainRequest, Explanation } from '../../answers/explain/explanation.ts';
import type { Channels, RevisionJson } from '../../catalog/documents/revision-document.ts';
import { unknownChannel } from '../../catalog/reading/unknown-release.ts';
import type { Trust } from '../../catalog/trust/trust.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import type { Check } from '../../core/check.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { createTurns } from '../../core/in-turn.ts';
import type { Log } from '../../core/log.ts';
import { isoOf } from '../../core/time-text.ts';
import { describeWaiting } from '../../releases/trust/sign-draft.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type {
  Adoption,
  Changed,
  Doctor,
  Explained,
  History,
  Overview,
  Preview,
  ReleaseDetail,
  Revision,
  Start,
} from './answers.ts';
import { createCatalogSource } from './catalog-source.ts';
import type { ChangeRequest } from './changes/change-request.ts';
import { changedOf, makeChange, seeing } from './changes/make-change.ts';
import { previewChange } from './changes/preview.ts';
import { createUsageSource } from './usage-source.ts';
import { type AdoptionRequest, adoptionOf } from './views/adoption.ts';
import { explainedOf } from './views/explain.ts';
import { historyOf, revisionOf } from './views/history.ts';
import { overviewOf } from './views/overview.ts';
import { releaseOf } from './views/release.ts';

/** The answers and changes of the console, without HTTP. */

/** The dependencies for making a change, or for rehearsing it. */
export interface ConsoleWriter {
  readonly deps: WriterDeps;
  /** Returns the same dependencies with a store that keeps writes in memory; a new one for each call. */
  rehearse(): WriterDeps;
}

interface ConsoleDeps {
  readonly mode: Start['mode'];
  readonly store: ObjectStore;
  /** Undefined: signatures of catalogs do not matter. */
  readonly trust: Trust | undefined;
  /** The store in which services store their counts. */
  readonly privateStore: ObjectStore;
  /** A clock with the store's time. */
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Explains a decision about an update. The local console decides from the store; the service decides as it does for
   * its clients.
   */
  readonly explainUpdate: (request: ExplainRequest) => Promise<Explanation>;
  readonly defaultApplication: string;
  /** The version of Slipway. */
  readonly version: string;
  /** The time between two reads of the catalog by a service, in milliseconds. */
  readonly catalogPollMs: number;
  /** The name of the store; null when the console must not disclose it. */
  readonly place: string | null;
  /** Undefined when the console refuses every change. */
  readonly writer: ConsoleWriter | undefined;
  /** Undefined when the console cannot check the store. */
  readonly diagnose: (() => Promise<readonly Check[]>) | undefined;
}

/** Every method throws the AppErrors of its operation and the AppErrors of the store. */
export interface Console {
  start(): Promise<Start>;
  overview(application: string): Promise<Overview>;
  release(application: string, version: string): Promise<ReleaseDetail>;
  adoption(request: AdoptionRequest): Promise<Adoption>;
  explain(request: ExplainRequest): Promise<Explained>;
  history(application: string, before: number | undefined): Promise<History>;
  revision(application: string, number: number): Promise<Revision>;
  doctor(): Promise<Doctor>;
  preview(application: string, request: ChangeRequest): Promise<Preview>;
  change(application: string, request: ChangeRequest): Promise<Changed>;
}

/** Whose signatures drafts wait for. An overview without them is better than none. */
async function waitingIn(
  { trust, ...deps }: ConsoleDeps,
  revision: RevisionJson,
): Promise<ReadonlyMap<string, string>> {
  if (trust?.of(revision.application) === undefined) return new Map();
  try {
    return await describeWaiting({ ...deps, trust }, revision);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return new Map();
  }
}

/** The number of releases that the console remembers, and shows again while the store fails. */
const RELEASES_KEPT = 50;
/**
 * The number of revisions that the console remembers. The number is low, because the difference of one revision may
 * take megabytes.
 */
const REVISIONS_KEPT = 20;

export function createConsole(deps: ConsoleDeps): Console {
  const { clock, place, defaultApplication } = deps;
  const describe = (error: AppError): string =>
    place === null ? 'The object store does not answer.' : error.message;
  const catalogs = createCatalogSource({ ...deps, describe });
  const inTurn = createTurns('Too many screens ask at once. Try again shortly.');
  let diagnosis: Promise<readonly Check[]> | undefined;
  const releases = createRecent<ReleaseDetail>(RELEASES_KEPT);
  const revisions = createRecent<Revision>(REVISIONS_KEPT);
  const usage = createUsageSource({ ...deps, store: deps.privateStore, describe });
  return {
    start: async () => ({
      mode: deps.mode,
      mayChange: deps.writer !== undefined,
      store: place,
      actor: deps.writer?.deps.actor ?? null,
      version: deps.version,
      applications: await catalogs.applications(),
      defaultApplication,
      now: isoOf(clock.now()),
    }),
    overview: async (application) => {
      const seen = await catalogs.read(application);
      return overviewOf(application, seen, await waitingIn(deps, seen.revision.signed));
    },
    release: async (application, version) => {
      const [seen, counts] = await Promise.all([catalogs.read(application), usage.read()]);
      const name = `${application} ${version}`;
      try {
        return releases.set(name, await releaseOf(deps, application, version, seen, counts));
      } catch (error) {
        const known = releases.get(name);
        if (known === undefined || !isStoreFailure(error)) throw error;
        return { ...known, problem: describe(error as AppError), now: isoOf(clock.now()) };
      }
    },
    adoption: async (request) => {
      // Refuses an unknown application: without this read, the answer would have no counts.
      const { revision } = await catalogs.read(request.application);
      const adoption = adoptionOf(request, await usage.read(), clock.now(), place !== null);
      refuseUnknownChannel(request, adoption.channels, revision.signed.channels);
      return adoption;
    },
    explain: async (request) => {
      const { application } = request.query;
      const app = application === defaultApplication ? '' : ` --app ${application}`;
      return explainedOf(await deps.explainUpdate(request), app);
    },
    history: async (application, before) => {
      // Refuses an unknown application: without this read, the answer would be an empty history.
      await catalogs.read(application);
      return inTurn(() => historyOf(deps, application, before, place !== null));
    },
    revision: async (application, number) => {
      const name = `${application} ${number}`;
      // A remembered answer stays right, because a revision never changes.
      return (
        revisions.get(name) ??
        revisions.set(name, await inTurn(() => revisionOf(deps, application, number)))
      );
    },
    doctor: async () => {
      if (deps.diagnose === undefined || place === null) throw readOnly();
      // Two screens share one run, because a run writes and deletes probes.
      diagnosis ??= deps.diagnose().finally(() => {
        diagnosis = undefined;
      });
      const checks = await diagnosis;
      return {
        store: place,
        checks: checks.map(({ name, outcome, detail, remedy }) => ({
          name,
          outcome,
          sentence: detail,
          remedy,
        })),
      };
    },
    preview: async (application, request) => {
      const { writer } = deps;
      if (writer === undefined) throw readOnly();
      const rehearsal = seeing(writer.rehearse(), request);
      const { change } = request;
      return previewChange({ rehearsal, usage, defaultApplication }, application, change);
    },
    change: async (application, request) => {
      const { writer } = deps;
      if (writer === undefined) throw readOnly();
      try {
        const made = await makeChange(seeing(writer.deps, request), application, request.change);
        return changedOf(made, deps);
      } finally {
        // The console also forgets the catalog after a failure: the change may have been made, or the catalog may be
        // newer.
        catalogs.forget(application);
      }
    },
  };
}

/**
 * @param counted the channels with counts; the publisher may have removed some
 * @throws AppError `unknown_channel`
 */
function refuseUnknownChannel(
  { application, channel }: AdoptionRequest,
  counted: readonly string[],
  channels: Channels,
): void {
  if (channel === undefined || counted.includes(channel) || Object.hasOwn(channels, channel))
    return;
  throw unknownChannel(application, channel, channels);
}

function readOnly(): AppError {
  return new AppError(
    'read_only',
    'This console is read-only. To change releases, run "slipway console" without --read-only on a machine with the rights to publish.',
  );
}

/** The last answers, by name. Their number is limited, because clients choose the names in addresses. */
interface Recent<T> {
  get(name: string): T | undefined;
  /** @returns the value */
  set(name: string, value: T): T;
}

function createRecent<T>(valuesMax: number): Recent<T> {
  const values = new Map<string, T>();
  return {
    get: (name) => values.get(name),
    set: (name, value) => {
      values.delete(name);
      values.set(name, value);
      for (const oldest of values.keys()) {
        if (values.size <= valuesMax) break;
        values.delete(oldest);
      }
      return value;
    },
  };
}

/**
 * True for an error that means that the store cannot be read. False for an error that means that the request is wrong.
 */
function isStoreFailure(error: unknown): boolean {
  return isAppError(error) && (error.kind === 'unavailable' || error.code === 'store_denied');
}
