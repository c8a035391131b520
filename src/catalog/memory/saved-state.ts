import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { isAppError, systemCode } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { parseStateFile, renderStateFile, stateDirectoryOf } from '../../core/state-file.ts';
import { ITEMS_PER_STEP, type Steps } from '../../core/steps.ts';
import {
  type PackedDocument,
  packedBytes,
  packedFrom,
  unpackRevision,
} from '../documents/packed-document.ts';
import { type LiveRevision, liveRevisionSequence } from '../following/live-revision.ts';
import { NO_DOCUMENTS, type StoredManifest, type StoredManifests } from './release-loader.ts';

/**
 * The last good catalog on local disk. A process starts from this catalog when the store is down, and never serves an
 * older revision.
 *
 * Each revision of each application has a separate file, so processes that share a directory do not undo each other's
 * writes. These files are a cache: when a read or a write of a file fails, the process only logs a warning, once.
 */
export interface SavedState {
  load(application: string): Promise<SavedCatalog | undefined>;
  /** @returns true when the catalog was saved */
  save(application: string, catalog: SavedCatalog): Promise<boolean>;
  loadApplications(): Promise<SavedApplications | undefined>;
  saveApplications(applications: SavedApplications): Promise<void>;
}

/** The saved part of one application. */
interface SavedCatalog {
  readonly revision: LiveRevision;
  readonly manifests: StoredManifests;
}

interface SavedApplications {
  readonly names: readonly string[];
  /** The time at which the store last confirmed each catalog; milliseconds since the epoch. */
  readonly confirmedAt: Readonly<Record<string, number>>;
}

const applicationsSchema = z.object({
  names: z.array(z.string()),
  confirmedAt: z.record(z.string(), z.number()),
});

/** @param deps.location the location of the store: each store has a separate state */
export function createSavedState(deps: {
  readonly directory: string;
  readonly location: string;
  readonly log: Log;
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
      warn(
        error,
        'the catalog cannot be saved, so this service would not answer updates after a start while the store is down: set DATA_DIR to a directory that this process may write',
      ),
    );

  return {
    load: async (application) =>
      attempt(async () => {
        const directory = path.join(root, application);
        const revisions = (await readdir(directory))
          .map((name) => Number(/^(\d+)\.catalog$/.exec(name)?.[1] ?? 0))
          .sort((a, b) => b - a);
        for (const revision of revisions) {
          const file = path.join(directory, `${revision}.catalog`);
          const saved = await readCatalog(file, application, revision);
          if (saved !== undefined) return saved;
        }
        return undefined;
      }),
    save: async (application, catalog) => {
      const done = await attemptToSave(async () => {
        const directory = path.join(root, application);
        const revision = catalog.revision.signed.revision;
        const document = await unpackRevision(catalog.revision.document);
        const content = renderCatalog(document, catalog.manifests);
        await writeWhole(path.join(directory, `${revision}.catalog`), content);
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
  };
}

/** This file also tells the commands that this store was used before. */
const APPLICATIONS_FILE = 'applications.json';

/** Writes the file under another name first. When the process ends meanwhile, the old file stays. */
async function writeWhole(file: string, content: Iterable<string | Uint8Array>): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}

/**
 * Renders the documents as they are in memory, each after a line with its name and its size in bytes. It does not make
 * and hash the documents again, because that takes long for tens of megabytes. The first line is the number of
 * manifests. The documents that a manifest names come before it. Each document has its own digest, which the reader
 * checks.
 */
function* renderCatalog(revision: Uint8Array, manifests: StoredManifests): Iterable<Uint8Array> {
  // Makes a copy, because verification adds manifests during the write.
  const entries = [...manifests];
  let batch: Uint8Array[] = [Buffer.from(`${entries.length}\n`)];
  let size = 0;
  const add = (name: string, document: Uint8Array): void => {
    batch.push(Buffer.from(`${name} ${document.length}\n`), document);
    size += document.length;
  };
  add(REVISION, revision);
  for (const [name, { manifest, documents }] of entries) {
    for (const [carried, document] of documents) add(`${CARRIED}${carried}`, packedBytes(document));
    add(name, packedBytes(manifest));
    if (size < BATCH_BYTES) continue;
    yield Buffer.concat(batch);
    batch = [];
    size = 0;
  }
  yield Buffer.concat(batch);
}

/** The name of the revision in the file. No release has this name, because the names of releases contain spaces. */
const REVISION = 'revision';
const CARRIED = 'carried ';

/** The size of one write. With this size, the process makes few writes, and copies little at once. */
const BATCH_BYTES = 1024 * 1024;

/** @returns undefined when the file is truncated or altered. The loader checks the manifests when it uses them. */
async function readCatalog(
  file: string,
  application: string,
  number: number,
): Promise<SavedCatalog | undefined> {
  const documents = await runInTurns(parseDocumentsInSteps(await readFile(file)));
  if (documents === undefined) return undefined;
  try {
    const revision = await liveRevisionSequence(application).parse(documents.revision, number);
    return { revision, manifests: documents.manifests };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return undefined;
  }
}

interface SavedDocuments {
  readonly revision: Uint8Array;
  readonly manifests: StoredManifests;
}

/** Undefined when the file is not as {@link renderCatalog} makes it. */
function* parseDocumentsInSteps(bytes: Buffer): Steps<SavedDocuments | undefined> {
  const manifests = new Map<string, StoredManifest>();
  let documents: Map<string, PackedDocument> | undefined;
  let revision: Uint8Array | undefined;
  const first = bytes.indexOf('\n');
  let at = first + 1;
  while (at < bytes.length) {
    const end = bytes.indexOf('\n', at);
    const [, name, size] = /^(.+) (\d+)$/.exec(bytes.toString('utf8', at, end)) ?? [];
    if (end < 0 || name === undefined) return undefined;
    at = end + 1 + Number(size);
    // Makes a copy, because a part of the buffer would keep the whole file in memory.
    if (name === REVISION) revision = Buffer.from(bytes.subarray(end + 1, at));
    else if (name.startsWith(CARRIED)) {
      documents ??= new Map();
      documents.set(name.slice(CARRIED.length), packedFrom(bytes.subarray(end + 1, at)));
    } else {
      const manifest = packedFrom(bytes.subarray(end + 1, at));
      manifests.set(name, { manifest, documents: documents ?? NO_DOCUMENTS });
      documents = undefined;
    }
    if (manifests.size % ITEMS_PER_STEP === 0) yield;
  }
  const isWhole = at === bytes.length && bytes.toString('utf8', 0, first) === `${manifests.size}`;
  return isWhole && revision !== undefined ? { revision, manifests } : undefined;
}
