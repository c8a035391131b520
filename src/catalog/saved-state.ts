import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { systemCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { digestSchema } from '../sequence/envelope.ts';
import { ITEMS_PER_STEP, runInTurns, type Steps } from '../steps.ts';
import { manifestSchema } from './manifest-document.ts';
import { revisionSchema } from './revision-document.ts';
import type { Manifest, Revision } from './sequences.ts';

/**
 * The last good catalog on local disk. A process starts from it when the store is down, and never serves a revision
 * below it.
 *
 * Each application and revision has a separate file, so that processes that share a directory do not undo each
 * other's writes. These files are a cache: a failure to read or write one is logged, once.
 */
export interface SavedState {
  load(application: string): Promise<SavedCatalog | undefined>;
  /** @returns whether it was saved */
  save(application: string, catalog: SavedCatalog): Promise<boolean>;
  loadApplications(): Promise<SavedApplications | undefined>;
  saveApplications(applications: SavedApplications): Promise<void>;
}

interface SavedCatalog {
  readonly revision: Revision;
  readonly manifests: readonly Manifest[];
}

interface SavedApplications {
  readonly names: readonly string[];
  /** When the store last confirmed each catalog: milliseconds since the epoch. */
  readonly confirmedAt: Readonly<Record<string, number>>;
  /** The id of the store; undefined when it has none. */
  readonly storeId?: string | undefined;
}

const catalogSchema = z.object({
  revision: z.object({ signed: revisionSchema, digest: digestSchema }),
  manifests: z.array(z.object({ signed: manifestSchema, digest: digestSchema })),
});

const applicationsSchema = z.object({
  names: z.array(z.string()),
  confirmedAt: z.record(z.string(), z.number()),
  storeId: z.string().optional(),
});

/** @param deps.location the store's: the states of different stores are stored separately */
export function createSavedState(deps: {
  readonly directory: string;
  readonly location: string;
  readonly log: Log;
}): SavedState {
  const place = createHash('sha256').update(deps.location).digest('hex').slice(0, 16);
  const root = path.join(deps.directory, place);
  const applicationsFile = path.join(root, 'applications.json');
  let warned = false;

  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      // Once: a full or read-only disk must not fill the log as well.
      if (!warned) deps.log.warn({ err: error, directory: root }, 'cannot use the saved catalog');
      warned = true;
      return undefined;
    }
  };

  return {
    load: async (application) =>
      attempt(async () => {
        const directory = path.join(root, application);
        const revisions = (await readdir(directory))
          .map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0))
          .sort((a, b) => b - a);
        for (const revision of revisions) {
          const saved = await readChecked(path.join(directory, `${revision}.json`), catalogSchema);
          if (saved?.revision.signed.application === application) return saved;
        }
        return undefined;
      }),
    save: async (application, catalog) => {
      const done = await attempt(async () => {
        const directory = path.join(root, application);
        const revision = catalog.revision.signed.revision;
        await writeChecked(path.join(directory, `${revision}.json`), catalog);
        for (const name of await readdir(directory)) {
          const other = Number(/^(\d+)\.json$/.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
          if (other < revision) await rm(path.join(directory, name), { force: true });
        }
        return true;
      });
      return done === true;
    },
    loadApplications: () => attempt(() => readChecked(applicationsFile, applicationsSchema)),
    saveApplications: async (applications) => {
      await attempt(() => writeChecked(applicationsFile, applications));
    },
  };
}

/** The first line is the SHA-256 of the rest: a truncated or edited file counts as missing. */
async function writeChecked(file: string, content: object): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const { pieces, sha256 } = await runInTurns(renderInSteps(content));
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, [`${sha256}\n`, ...pieces]);
  await rename(temporary, file);
}

/** Renders as JSON.stringify does, in steps: the manifests of thousands of releases are tens of megabytes. */
function* renderInSteps(content: object): Steps<{ pieces: readonly string[]; sha256: string }> {
  const hash = createHash('sha256');
  const pieces: string[] = [];
  let batch: string[] = [];
  const flush = (): void => {
    const piece = batch.join('');
    hash.update(piece);
    pieces.push(piece);
    batch = [];
  };
  for (const part of jsonParts(content)) {
    if (batch.push(part) < ITEMS_PER_STEP) continue;
    flush();
    yield;
  }
  flush();
  return { pieces, sha256: hash.digest('hex') };
}

/** The JSON of plain data, in parts: each item of a list is a part. */
function* jsonParts(value: unknown): Generator<string, void> {
  if (typeof value !== 'object' || value === null) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    yield '[';
    for (const [index, item] of value.entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(item)}`;
    }
    yield ']';
  } else {
    let separator = '{';
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* jsonParts(field);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

async function readChecked<T extends z.ZodType>(
  file: string,
  schema: T,
): Promise<z.output<T> | undefined> {
  const text = await readFile(file, 'utf8');
  const json = text.slice(65);
  if (text.slice(0, 64) !== sha256(json)) return undefined;
  try {
    const parsed = schema.safeParse(JSON.parse(json));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
