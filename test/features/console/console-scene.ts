import path from 'node:path';
import { explainUpdate } from '../../../src/answers/explain/explain-update.ts';
import { systemClock } from '../../../src/core/system.ts';
import { DEFAULT_TIERS } from '../../../src/domain/tier.ts';
import type { ConsoleWriter } from '../../../src/features/console/console.ts';
import { type Console, createConsole } from '../../../src/features/console/console.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { createDryRunStore } from '../../../src/store/dry-run-store.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';

/** See `catalog-source.ts`. */
const CONSOLE_WAITS_MS = 3_000;

/** A console on a store in memory that can fail, with a clock that stands still. */
export async function openScene({ isReadOnly = false } = {}) {
  const fixed = createFixedClock();
  // The console waits for a slow store in real time, so that a fast one is never taken for slow.
  const clock: typeof fixed = {
    ...fixed,
    sleep: (ms, signal) =>
      ms === CONSOLE_WAITS_MS ? systemClock.sleep(150, signal) : fixed.sleep(ms, signal),
  };
  const store = createFaultyStore(createMemoryStore({ clock }));
  const randomness = createSeededRandomness(7);
  const directory = await makeTemporaryDirectory();
  const deps = { store, clock, randomness };
  const consoleOf = (actor: string): Console => {
    const writer: ConsoleWriter = {
      deps: { ...deps, actor },
      rehearse: () => ({ ...deps, store: createDryRunStore({ store, clock }), actor }),
    };
    return createConsole({
      mode: 'local',
      trust: undefined,
      store,
      privateStore: store,
      clock,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      explainUpdate: (request) => explainUpdate({ store, clock, tiers: DEFAULT_TIERS }, request),
      defaultApplication: 'desktop',
      version: '9.9.9',
      catalogPollMs: 2_000,
      place: 'memory',
      writer: isReadOnly ? undefined : writer,
      diagnose: undefined,
    });
  };
  const release = async (
    version: string,
    request: Partial<PublishRequest> = {},
    arches: readonly ('x64' | 'arm64')[] = ['x64'],
    others: readonly Parameters<typeof makeArtifact>[1][] = [],
  ): Promise<void> => {
    const files = arches.map((arch) =>
      makeArtifact(path.join(directory.path, version), {
        arch,
        filename: `App-${version}-${arch}.exe`,
        content: `${version} ${arch}`,
      }),
    );
    files.push(...others.map((other) => makeArtifact(path.join(directory.path, version), other)));
    await publish(deps, { version, artifacts: await Promise.all(files), ...request });
    clock.advance(2_000);
  };
  return { ...deps, consoleOf, release, close: directory.remove };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;
