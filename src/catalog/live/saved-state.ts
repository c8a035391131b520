import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { isAppError, systemCode } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { parseStateFile, renderStateFile, stateDirectoryOf } from '../../core/state-file.ts';
import { ITEMS_PER_STEP, mapInSteps, type Steps } from '../../core/steps.ts';
import { unpackRevision } from '../documents/packed-document.ts';
import type { Freshness } from '../trust/freshness.ts';
import type { Trust } from '../trust/trust.ts';
import type { Confirmation } from './decide-freshness.ts';
import { type LiveRevision, liveRevisionSequence } from './live-revision.ts';
import type { KeptValue, SpillFile } from './spill-file.ts';
import { type ListedManifest, listedManifests, section, sectionsOf } from './stored-manifest.ts';

/**
 * The last good catalog on local disk. A process starts from this catalog when the store is down, and never serves an
 * older revision.
 *
 * Each revision of each application has a separate file, so processes that share a directory do not undo each other's
 * writes. These files are a cache: when a read or a write of a file fails, the process only logs a warning, once.
 */
export interface SavedState {
  /** @param trust verifies the saved revision as it verifies a stored one */
  load(application: string, trust?: Trust): Promise<SavedCatalog | undefined>;
  /** @returns true when the catalog was saved; else the old file stays */
  save(application: string, catalog: CatalogToSave): Promise<boolean>;
  loadApplications(): Promise<SavedApplications | undefined>;
  saveApplications(applications: SavedApplications): Promise<void>;
  loadFiles(application: string): Promise<readonly FileResult[]>;
  saveFiles(application: string, files: readonly FileResult[]): Promise<void>;
}

interface CatalogToSave {
  readonly revision: LiveRevision;
  readonly manifests: ManifestsToSave;
  /** The newest timestamp; undefined for an application without a root of trust. */
  readonly freshness?: Freshness | undefined;
}

export interface ManifestsToSave {
  readonly count: number;
  /**
   * The manifests, one after the other, as `renderManifest` makes them.
   *
   * @throws SaveInterrupted
   */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A manifest was dropped or lost while the state was saved. A later poll saves the whole state. */
export class SaveInterrupted extends Error {}

export interface SavedManifest {
  readonly digest: string;
  /** The manifest in the spill file. */
  readonly kept: KeptValue;
}

/** The saved part of one application. */
interface SavedCatalog {
  readonly revision: LiveRevision;
  /** The loader checks the digest of a manifest when it uses it. */
  readonly manifests: readonly SavedManifest[];
  readonly freshness?: Freshness | undefined;
}

/** What the process knows about the bytes of a stored file. */
export interface FileResult {
  readonly key: string;
  readonly etag: string;
  /** False when the bytes under this ETag are not those that releases state. */
  readonly isGood: boolean;
}

interface SavedApplications {
  readonly names: readonly string[];
  /** The time at which the store last confirmed each catalog; milliseconds since the epoch. */
  readonly confirmedAt: Readonly<Record<string, number>>;
  /**
   * By application: the last confirmation of a signed state that the process knew to be new. The store confirms states to
   * processes that answer no client, too, and `confirmedAt` has those. Absent in files by earlier versions of Slipway.
   */
  readonly proven?: Readonly<Record<string, Confirmation>> | undefined;
}

const applicationsSchema = z.object({
  names: z.array(z.string()),
  confirmedAt: z.record(z.string(), z.number()),
  proven: z.record(z.string(), z.object({ at: z.number(), revision: z.int() })).optional(),
});

/** @param deps.location the location of the store: each store has a separate state */
export function createSavedState(deps: {
  readonly directory: string;
  readonly location: string;
  readonly log: Log;
  readonly spill: SpillFile;
}): SavedState {
  const root = stateDirectoryOf(deps);
  const applicationsFile = path.join(root, APPLICATIONS_FILE);
  let warned = false;

  /** Warns once: a full or read-only disk must not fill the log as well. */
  const warn = (error: unknown, message: string): undefined => {
    if (!warned) deps.log.warn({ err: error, directory: root }, message);
    warned = true;
  };
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      return warn(error, 'cannot use the saved catalog');
    }
  };
  /** ENOENT is a failure here: on a read-only volume, the creation of a directory fails with this code. */
  const attemptToSave = <T>(work: () => Promise<T>): Promise<T | undefined> =>
    work().catch((error: unknown) =>
      error instanceof SaveInterrupted
        ? undefined
        : warn(
            error,
            'the catalog cannot be saved, so this service would not answer updates after a start while the store is down: set DATA_DIR to a directory that this process may write',
          ),
    );
  const readCatalog = createCatalogReader(deps.spill);

  return {
    load: async (application, trust) =>
      attempt(async () => {
        const directory = path.join(root, application);
        const revisions = (await readdir(directory))
          .map((name) => Number(/^(\d+)\.catalog$/.exec(name)?.[1] ?? 0))
          .sort((a, b) => b - a);
        for (const revision of revisions) {
          const file = path.join(directory, `${revision}.catalog`);
          const saved = await readCatalog(file, application, revision, trust);
          if (saved !== undefined) return { ...saved, freshness: await readFreshness(directory) };
        }
        return undefined;
      }),
    save: async (application, { revision: live, manifests, freshness }) => {
      const done = await attemptToSave(async () => {
        const directory = path.join(root, application);
        const { revision } = live.signed;
        const document = await unpackRevision(live.document);
        const content = renderCatalog(document, manifests);
        await writeWhole(path.join(directory, `${revision}.catalog`), content);
        if (freshness !== undefined) {
          await writeWhole(path.join(directory, FRESHNESS_FILE), renderStateFile(freshness));
        }
        for (const name of await readdir(directory)) {
          const other = Number(/^(\d+)\.catalog$/.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
          if (other < revision) await rm(path.join(directory, name), { force: true });
        }
        return true;
      });
      return done === true;
    },
    loadApplications: () =>
      attempt(async () => {
        const saved = parseStateFile(await readFile(applicationsFile, 'utf8'));
        return applicationsSchema.safeParse(saved).data;
      }),
    saveApplications: async (applications) => {
      await attemptToSave(() => writeWhole(applicationsFile, renderStateFile(applications)));
    },
    loadFiles: async (application) => {
      const text = await attempt(() => readFile(path.join(root, application, FILES_FILE), 'utf8'));
      const lines = text?.split('\n') ?? [];
      return (await runInTurns(mapInSteps(lines, parseFileResult))).flat();
    },
    saveFiles: async (application, files) => {
      const file = path.join(root, application, FILES_FILE);
      await attemptToSave(() => writeWhole(file, renderFileResults(files)));
    },
  };
}

/** The results for the files of an application, one a line. A damaged line only makes the process read a file again. */
const FILES_FILE = 'files.jsonl';
const FILES_AT_ONCE = 512;

const fileResultSchema = z.tuple([z.string(), z.string(), z.boolean()]);

function parseFileResult(line: string): readonly FileResult[] {
  try {
    const [key, etag, isGood] = fileResultSchema.parse(JSON.parse(line));
    return [{ key, etag, isGood }];
  } catch {
    return [];
  }
}

function* renderFileResults(files: readonly FileResult[]): Generator<string> {
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) {
    const lines = files
      .slice(at, at + FILES_AT_ONCE)
      .map(({ key, etag, isGood }) => JSON.stringify([key, etag, isGood]));
    yield `${lines.join('\n')}\n`;
  }
}

/** This file also tells the commands that this store was used before. */
const APPLICATIONS_FILE = 'applications.json';

/** The newest timestamp that the process has seen, as a value: the process verified it before it saved it. */
const FRESHNESS_FILE = 'timestamp.json';

const freshnessSchema = z.object({
  version: z.int(),
  expiresAt: z.number(),
  signedAt: z.number(),
  revision: z.object({ revision: z.int(), digest: z.string() }),
  rootVersion: z.int(),
  signer: z.string(),
});

async function readFreshness(directory: string): Promise<Freshness | undefined> {
  try {
    const text = await readFile(path.join(directory, FRESHNESS_FILE), 'utf8');
    return freshnessSchema.safeParse(parseStateFile(text)).data;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes the file under another name first. When the write fails or the process ends meanwhile, the old file stays. */
async function writeWhole(
  file: string,
  content: Iterable<string> | AsyncIterable<Uint8Array>,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Renders the manifests as they are on the disk, after the revision. It does not make and hash the manifests again,
 * because that takes long for tens of megabytes. The first line is the number of manifests.
 */
async function* renderCatalog(
  revision: Uint8Array,
  { count, chunks }: ManifestsToSave,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${count}\n`);
  yield* section(REVISION, revision);
  yield* chunks;
}

/** The name of the revision in the file. */
const REVISION = 'revision';

/** Reads small files into one buffer, because the buffers of a thousand files would stay in memory for long. */
const SMALL_FILE_BYTES = 1024 * 1024;

/**
 * @returns a function that returns undefined when the file is truncated or its revision was altered. The loader notices an
 *   altered manifest when it uses it
 */
function createCatalogReader(spill: SpillFile) {
  const oneAtATime = pLimit(1);
  let buffer: Buffer | undefined;

  const read = async (path: string): Promise<Buffer> => {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > SMALL_FILE_BYTES) return await file.readFile();
      buffer ??= Buffer.alloc(SMALL_FILE_BYTES);
      const { bytesRead } = await file.read(buffer, 0, size, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  };

  return (
    path: string,
    application: string,
    number: number,
    trust: Trust | undefined,
  ): Promise<SavedCatalog | undefined> =>
    oneAtATime(async () => {
      const documents = await runInTurns(parseCatalogInSteps(await read(path)));
      if (documents === undefined) return undefined;
      try {
        const revision = await liveRevisionSequence(application, trust).parse(
          documents.revision,
          number,
        );
        const { manifests } = documents;
        const kept = await spill.keep(manifests.map(({ bytes }) => bytes));
        return {
          revision,
          manifests: kept.map((one, index) => ({
            digest: manifests[index]?.digest ?? '',
            kept: one,
          })),
        };
      } catch (error) {
        if (!isAppError(error)) throw error;
        return undefined;
      }
    });
}

interface SavedDocuments {
  readonly revision: Uint8Array;
  readonly manifests: readonly ListedManifest[];
}

/** Undefined when the file is not as {@link renderCatalog} makes it. */
function* parseCatalogInSteps(bytes: Buffer): Steps<SavedDocuments | undefined> {
  const start = bytes.indexOf('\n') + 1;
  const [first] = sectionsOf(bytes, start);
  if (first?.name !== REVISION) return undefined;
  const manifests: ListedManifest[] = [];
  let end = first.end;
  for (const listed of listedManifests(bytes, first.end)) {
    manifests.push(listed);
    end += listed.bytes.length;
    if (manifests.length % ITEMS_PER_STEP === 0) yield;
  }
  const isWhole =
    end === bytes.length && bytes.toString('utf8', 0, start) === `${manifests.length}\n`;
  return isWhole ? { revision: first.content, manifests } : undefined;
}
