import { createHash } from 'node:crypto';
import { artifactKey } from '../../src/catalog/documents/keys.ts';
import { createCatalog } from '../../src/catalog/live/catalog.ts';
import type { Clock } from '../../src/core/clock.ts';
import { isAppError } from '../../src/core/errors.ts';
import { versionText } from '../../src/domain/version.ts';
import { verifyCatalog } from '../../src/releases/verify/verify-catalog.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';

/** What a new service would offer, and every inconsistency in the store. */
export interface Observation {
  readonly revision: number;
  /** `channel version` → the names of its files. */
  readonly offers: ReadonlyMap<string, readonly string[]>;
  /** Sentences about inconsistencies; a torn state has at least one. */
  readonly torn: readonly string[];
}

/** Loads the catalog as a new service does, and compares every offered file with its hashes. */
export async function observe(
  store: ObjectStore,
  application: string,
  now: Clock['now'] = Date.now,
): Promise<Observation> {
  const log: string[] = [];
  const write = (facts: object, message: string) =>
    void log.push(`${message} ${JSON.stringify(facts)}`);
  const catalog = createCatalog({
    store,
    clock: { now, sleep: sleepUntilAborted },
    randomness: { fraction: () => 0.5, id: () => 'unused' },
    log: { info: () => undefined, warn: write, error: write },
    stateDirectory: undefined,
    pollIntervalMs: 1_000,
    staleMaxMs: 86_400_000,
  });
  try {
    await catalog.start();
    const offers = new Map<string, readonly string[]>();
    const torn: string[] = [];
    const ready = findReady(catalog, application);
    if (ready === undefined) return { revision: 0, offers, torn: log };
    const { channels, revision } = ready.snapshot();
    for (const [name, channel] of channels) {
      for (const offer of channel.offers) {
        const release = await ready.release(offer);
        if (release === undefined) continue;
        const files = release.artifacts.flatMap((artifact) => [artifact, ...artifact.companions]);
        offers.set(
          `${name} ${versionText(offer.version)}`,
          files.map(({ filename }) => filename),
        );
        for (const file of files) torn.push(...(await compare(store, application, file)));
      }
    }
    torn.push(...catalog.health().problems, ...ready.health().problems, ...log);
    const verified = await verifyCatalog(
      { store, onProgress: () => undefined },
      { application, deep: true },
    );
    torn.push(...verified.listProblems);
    torn.push(...verified.applications.flatMap(({ problems }) => problems));
    return { revision: revision.signed.revision, offers, torn };
  } finally {
    await catalog.stop();
  }
}

function findReady(catalog: ReturnType<typeof createCatalog>, application: string) {
  try {
    return catalog.application(application);
  } catch (error) {
    if (isAppError(error, 'unknown_application')) return undefined;
    throw error;
  }
}

async function compare(
  store: ObjectStore,
  application: string,
  file: { object: string; size: number; sha256: string; sha512: string },
): Promise<readonly string[]> {
  const key = artifactKey(application, file.object);
  const object = await store.read(key);
  if (object === undefined) return [`${key} is offered, but missing`];
  const hashes = [createHash('sha256'), createHash('sha512')] as const;
  for await (const chunk of object.stream) for (const hash of hashes) hash.update(chunk as Buffer);
  const [sha256, sha512] = hashes.map((hash) => hash.digest('hex'));
  const isWhole = sha256 === file.sha256 && sha512 === file.sha512 && object.size === file.size;
  return isWhole ? [] : [`${key} is offered, but has other bytes`];
}

/** Sleeps until the catalog stops, so that the catalog does not poll. */
function sleepUntilAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
