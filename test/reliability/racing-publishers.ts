import path from 'node:path';
import { expect } from 'vitest';
import { channelsInSteps } from '../../src/catalog/documents/revision-document.ts';
import { readManifest, readRevision } from '../../src/catalog/reading/read.ts';
import { runAtOnce } from '../../src/core/steps.ts';
import { versionText } from '../../src/domain/version.ts';
import { verifyCatalog } from '../../src/releases/verify/verify-catalog.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { rounds } from '../support/rounds.ts';
import type { PublisherOrder, PublisherOutcome, PublisherTask } from './publisher-process.ts';
import { startChild } from './run-child.ts';

/** Publishers in separate processes that start to publish at the same moment. */

export interface RaceDeps {
  readonly name: string;
  readonly store: ObjectStore;
  readonly env: Readonly<Record<string, string>>;
  /** The directory for the builds to publish. */
  readonly directory: string;
}

const PROCESSES = 4;
const PUBLISHERS = 2;
const ROUNDS = rounds(4, 200);

async function race(
  deps: RaceDeps,
  publishers: readonly (readonly PublisherTask[])[],
): Promise<readonly PublisherOutcome[]> {
  const children = Array.from({ length: PROCESSES }, (_, index) => {
    const order: PublisherOrder = {
      directory: path.join(deps.directory, String(index)),
      publishers: publishers.filter((_tasks, number) => number % PROCESSES === index),
    };
    const args = [JSON.stringify(order)];
    return startChild('test/reliability/publisher-process.ts', args, deps.env);
  });
  await Promise.all(
    children.map(({ process }) => new Promise((resolve) => process.stdout?.once('data', resolve))),
  );
  for (const { process } of children) process.stdin?.write('go\n');
  const finished = await Promise.all(children.map((child) => child.finished));
  return finished.flatMap(({ code, stdout, stderr }) => {
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as PublisherOutcome[];
  });
}

/** Every publisher publishes one version per round, to one channel of one application. */
export async function raceVersions(deps: RaceDeps): Promise<void> {
  const publishers = Array.from({ length: PROCESSES * PUBLISHERS }, (_, publisher) =>
    Array.from({ length: ROUNDS }, (_, round): PublisherTask => {
      const version = `1.${publisher}.${round}`;
      const filename = `App-${version}.exe`;
      return {
        version,
        platform: 'windows',
        arch: 'x64',
        format: 'nsis',
        filename,
        content: version,
      };
    }),
  );
  const total = PROCESSES * PUBLISHERS * ROUNDS;
  const startedAt = performance.now();
  const outcomes = await race(deps, publishers);
  const seconds = (performance.now() - startedAt) / 1000;
  const refused = outcomes.filter((outcome) => 'code' in outcome);
  expect(refused).toEqual([]);
  const acknowledged = outcomes.flatMap((outcome) => ('revision' in outcome ? [outcome] : []));
  const winners = new Set(acknowledged.map(({ revision }) => revision));
  const offered = await readOffered(deps.store);
  const lost = acknowledged.filter(({ version }) => !offered.has(version));
  const [verified] = await verify(deps.store);
  console.log(
    `racing publishers, ${deps.name}: ${PROCESSES} processes x ${PUBLISHERS} x ${ROUNDS} rounds in ${seconds.toFixed(1)} s, ${winners.size} revisions with one winner each, ${lost.length} lost changes, ${verified?.problems.length} problems in the chain`,
  );
  expect(lost).toEqual([]);
  expect([...winners].sort((a, b) => a - b)).toEqual(range(total));
  expect(verified).toMatchObject({ revision: total, revisionsChecked: total, problems: [] });
}

const PLATFORMS: readonly Omit<PublisherTask, 'version' | 'content'>[] = [
  { platform: 'windows', arch: 'x64', format: 'nsis', filename: 'App-x64.exe' },
  { platform: 'windows', arch: 'arm64', format: 'nsis', filename: 'App-arm64.exe' },
  { platform: 'windows', arch: 'x64', format: 'msi', filename: 'App.msi' },
  { platform: 'macos', arch: 'arm64', format: 'dmg', filename: 'App-arm64.dmg' },
  { platform: 'macos', arch: 'x64', format: 'zip', filename: 'App-x64.zip' },
  { platform: 'linux', arch: 'x64', format: 'appimage', filename: 'App.AppImage' },
  { platform: 'linux', arch: 'arm64', format: 'deb', filename: 'App.deb' },
  { platform: 'linux', arch: 'x64', format: 'rpm', filename: 'App.rpm' },
];

/** Eight CI jobs publish one platform each of the same version, for several versions in sequence. */
export async function racePlatforms(deps: RaceDeps): Promise<void> {
  const versions = ['2.0.0', '2.0.1', '2.0.2'];
  const tasks = (content: string) =>
    PLATFORMS.map((file) =>
      versions.map((version) => ({ ...file, version, content: `${content} ${file.filename}` })),
    );
  const outcomes = await race(deps, tasks('built'));
  expect(outcomes.filter((outcome) => 'code' in outcome)).toEqual([]);
  const expected = PLATFORMS.map(({ filename }) => filename).sort();
  const offered = await readOffered(deps.store);
  for (const version of versions) expect(offered.get(version)?.sort(), version).toEqual(expected);
  const before = await verify(deps.store);
  expect(before).toMatchObject([{ problems: [] }]);

  // The jobs run again: the same bytes change nothing, and other bytes are refused.
  const again = await race(deps, tasks('built'));
  expect(again.filter((outcome) => !('changed' in outcome) || outcome.changed)).toEqual([]);
  const rebuilt = await race(deps, tasks('rebuilt'));
  const refused = rebuilt.filter((o) => 'code' in o && o.code === 'release_differs');
  expect(refused).toHaveLength(versions.length * PLATFORMS.length);
  expect(await verify(deps.store)).toEqual(before);
  console.log(
    `CI jobs, ${deps.name}: ${PLATFORMS.length} platforms of ${versions.length} versions, published concurrently, made ${versions.length} complete releases; ${again.length} repeated publishes changed nothing, ${refused.length} with other bytes were refused`,
  );
}

async function verify(store: ObjectStore) {
  const { applications } = await verifyCatalog(
    { store, onProgress: () => undefined },
    { application: 'desktop', deep: true },
  );
  return applications;
}

/** The offered versions, each with the names of its files. */
async function readOffered(store: ObjectStore): Promise<ReadonlyMap<string, string[]>> {
  const revision = await readRevision({ store }, 'desktop');
  const offered = new Map<string, string[]>();
  for (const channel of runAtOnce(channelsInSteps(revision?.signed ?? neverPublished())).values()) {
    for (const { version, manifest } of channel.offers) {
      const text = versionText(version);
      const { release } = await readManifest({ store }, 'desktop', text, manifest);
      offered.set(
        text,
        release.artifacts.map(({ filename }) => filename),
      );
    }
  }
  return offered;
}

function neverPublished(): never {
  throw new Error('The catalog has no revision.');
}

function range(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
