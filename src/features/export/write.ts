import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { LASTING } from '../../answers/answer.ts';
import { openFile } from '../../answers/files/open-file.ts';
import { createBytesSource } from '../../store/file-source.ts';
import type { ObjectStore, UploadSource } from '../../store/object-store.ts';
import type { StaticFacts, StaticTarget } from '../../store/static-target/static-target.ts';
import {
  DOCUMENT_CACHE,
  type ExportPlan,
  FILE_FACTS,
  type PlannedDocument,
  type PlannedFile,
} from './plan.ts';

/** The result of writing an export. */
export interface Written {
  /** The documents that were new or had other bytes. */
  readonly documents: number;
  readonly files: number;
  /** The bytes of the written files, without the files that the target already has at another address. */
  readonly bytes: number;
  /** The number of addresses that already had the right bytes, from an earlier export. */
  readonly unchanged: number;
  /** The addresses of an earlier export that no longer exist. */
  readonly removed: readonly string[];
}

export interface WriteDeps {
  readonly store: Pick<ObjectStore, 'open'>;
  readonly target: StaticTarget;
  /** True: the export writes nothing, and reports the writes that it would make. */
  readonly isDryRun: boolean;
  readonly onProgress: (
    label: string,
    done: number,
    total: number,
    unit?: 'bytes' | 'count',
  ) => void;
}

/** The most documents that are written at once: a bucket answers each small request only after some milliseconds. */
const DOCUMENTS_AT_ONCE = 8;
/** The most files that are written at once: each upload has buffers of up to 80 MiB. */
const FILES_AT_ONCE = 2;

/**
 * Writes the differences from an earlier export.
 *
 * It writes first files, then documents, and then removes addresses that no longer exist. So at no moment does a
 * document name a file that is missing because of the export. An interrupted export leaves only whole files, and the
 * next export continues.
 *
 * @param before the addresses that the target had; the export removes the addresses that are not in the plan
 */
export async function writePlan(
  deps: WriteDeps,
  plan: Pick<ExportPlan, 'documents' | 'files'>,
  before: readonly string[],
): Promise<Written> {
  const placed = placeIn(deps.target, plan);
  const fixed = placed.files.filter(({ isReplaced }) => !isReplaced);
  const replaced = placed.files.filter(({ isReplaced }) => isReplaced);
  const files = await writeFiles(deps, fixed);
  const changing = await writeFiles(deps, replaced);
  const named = placed.documents.filter(({ isLasting }) => isLasting === true);
  const naming = placed.documents.filter(({ isLasting }) => isLasting !== true);
  const lasting = await writeDocuments(deps, named);
  const documents = await writeDocuments(deps, naming);
  const paths = new Set([...placed.documents, ...placed.files].map(({ path }) => path));
  const removed: string[] = [];
  for (const path of before) {
    if (paths.has(path)) continue;
    if (deps.isDryRun || (await deps.target.remove(path))) removed.push(path);
  }
  return {
    documents: lasting.written + documents.written,
    files: files.written + changing.written,
    bytes: files.bytes + changing.bytes,
    unchanged: lasting.unchanged + documents.unchanged + files.unchanged + changing.unchanged,
    removed: removed.sort(),
  };
}

/**
 * When the address of a document or a file is also the folder of other addresses, the document or file gets the name
 * `index.html` in this folder. Static servers look for this name.
 */
function placeIn(
  { keepsNestedPaths }: StaticTarget,
  { documents, files }: Pick<ExportPlan, 'documents' | 'files'>,
): Pick<ExportPlan, 'documents' | 'files'> {
  if (keepsNestedPaths) return { documents, files };
  const folders = new Set<string>();
  for (const { path } of [...documents, ...files]) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  const place = <T extends { readonly path: string }>(each: T): T =>
    folders.has(each.path) ? { ...each, path: `${each.path}/index.html` } : each;
  return { documents: documents.map(place), files: files.map(place) };
}

interface Counts {
  readonly written: number;
  readonly unchanged: number;
  readonly bytes: number;
}

async function writeFiles(deps: WriteDeps, files: readonly PlannedFile[]): Promise<Counts> {
  const { target, isDryRun, onProgress, store } = deps;
  const groups = groupByBytes(files);
  const total = groups.reduce((sum, [first]) => sum + (first?.file.size ?? 0), 0);
  let written = 0;
  let unchanged = 0;
  let bytes = 0;
  let done = 0;
  const writeGroup = async (group: readonly PlannedFile[]): Promise<void> => {
    const missing: PlannedFile[] = [];
    let twin: string | undefined;
    for (const each of group) {
      if (!(await target.has(each.path, each.file))) missing.push(each);
      else twin ??= each.path;
    }
    unchanged += group.length - missing.length;
    for (const { path, application, file, isReplaced } of missing) {
      const facts = isReplaced ? { ...FILE_FACTS, cacheControl: DOCUMENT_CACHE } : FILE_FACTS;
      const source = sourceOf(store, application, file);
      if (!isDryRun) await target.put(path, source, facts, twin);
      if (twin === undefined) bytes += file.size;
      twin ??= path;
      written += 1;
    }
    done += group[0]?.file.size ?? 0;
    onProgress('writing files', done, total, 'bytes');
  };
  await inTurn(FILES_AT_ONCE, groups, writeGroup);
  return { written, unchanged, bytes };
}

/** Groups the planned files by their stored file: several addresses may have the same bytes. */
function groupByBytes(files: readonly PlannedFile[]): readonly (readonly PlannedFile[])[] {
  const groups = new Map<string, PlannedFile[]>();
  for (const each of files) {
    const key = `${each.application} ${each.file.object}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return [...groups.values()];
}

async function writeDocuments(
  { target, isDryRun, onProgress }: WriteDeps,
  documents: readonly PlannedDocument[],
): Promise<Counts> {
  let written = 0;
  let unchanged = 0;
  await inTurn(DOCUMENTS_AT_ONCE, documents, async ({ path, body, contentType, isLasting }) => {
    const cacheControl = isLasting === true ? LASTING : DOCUMENT_CACHE;
    const facts: StaticFacts = { contentType, cacheControl };
    const source = createBytesSource(body, createHash('sha256').update(body).digest('hex'));
    if (await target.has(path, source)) unchanged += 1;
    else {
      if (!isDryRun) await target.put(path, source, facts);
      written += 1;
    }
    onProgress('writing documents', written + unchanged, documents.length);
  });
  return { written, unchanged, bytes: 0 };
}

/**
 * Runs tasks, `atOnce` of them at the same time. After the first failure, it starts no further task, and waits for the
 * tasks that are under way.
 */
async function inTurn<T>(
  atOnce: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const limit = pLimit(atOnce);
  let failure: { readonly error: unknown } | undefined;
  await Promise.all(
    items.map((item) =>
      limit(async () => {
        if (failure !== undefined) return;
        await work(item).catch((error: unknown) => {
          failure ??= { error };
        });
      }),
    ),
  );
  if (failure !== undefined) throw failure.error;
}

function sourceOf(
  store: Pick<ObjectStore, 'open'>,
  application: string,
  file: PlannedFile['file'],
): UploadSource {
  const { size, sha256 } = file;
  return {
    size,
    sha256,
    open: async () => {
      const reader = await openFile(store, application, file);
      return {
        read: async (target, position) => {
          const wanted = target.subarray(0, Math.max(0, Math.min(target.length, size - position)));
          if (wanted.length > 0) await reader.read(wanted, position);
          return wanted.length;
        },
        close: () => reader.close(),
      };
    },
  };
}
