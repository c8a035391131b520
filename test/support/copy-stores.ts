import type { Clock } from '../../src/core/clock.ts';
import { COMMAND_FACTS as FACTS } from '../../src/features/command-facts.ts';
import { type CopyResult, copyStore } from '../../src/features/copy/copy-store.ts';
import { createKeyReader } from '../../src/features/copy/key-reader.ts';
import { readStoredDocument } from '../../src/features/copy/read-document.ts';
import { verifyCatalog } from '../../src/releases/verify/verify-catalog.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createRetrying } from '../../src/store/sequence/create-settled.ts';

/** Copies one open store into another, as the command does. */
export function copyStores(
  { from, to, clock }: { from: ObjectStore; to: ObjectStore; clock: Clock },
  request: Partial<Parameters<typeof copyStore>[1]> = {},
): Promise<CopyResult> {
  return copyStore(
    {
      from: { store: from, name: 'the source' },
      to: { store: to, name: 'the target' },
      ...createKeyReader(FACTS.keys),
      ...{ clock, readDocument: readStoredDocument, onProgress: () => {} },
      createDocument: (key, bytes) => createRetrying({ store: to, clock }, key, bytes),
    },
    { deep: false, prune: false, isDryRun: false, ...request },
  );
}

/** What `verify --deep` finds, of all applications together. */
export async function problemsIn(store: ObjectStore): Promise<readonly string[]> {
  const { listProblems, applications } = await verifyCatalog(
    { store, onProgress: () => {} },
    { application: undefined, deep: true },
  );
  return [...listProblems, ...applications.flatMap(({ problems }) => problems)];
}

/** Every object with its bytes as text, except probes. */
export async function contentOf(store: ObjectStore): Promise<Readonly<Record<string, string>>> {
  const content: Record<string, string> = {};
  for await (const { key } of store.list('')) {
    if (key.startsWith('probe/')) continue;
    content[key] = Buffer.from((await store.get(key))?.body ?? []).toString('latin1');
  }
  return content;
}
