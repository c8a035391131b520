import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BuiltCompanion } from '../../../builds/build-output.ts';
import { artifactKey } from '../../../catalog/documents/keys.ts';
import type { ReaderDeps } from '../../../catalog/reading/read.ts';
import { readFileTwice } from '../../../catalog/reading/read-file-twice.ts';
import { formatBytes } from '../../../core/counted.ts';
import {
  createTemporaryDirectory,
  type TemporaryDirectory,
} from '../../../core/temporary-directory.ts';
import { DELTA } from '../../../domain/companion.ts';
import { type Artifact, findArtifact, type Release } from '../../../domain/release.ts';
import { mayUpdateFrom } from '../../../domain/version.ts';
import {
  type HashedArtifact,
  hashCompanion,
  type PublishProgress,
} from '../../files/hash-artifacts.ts';
import type { SeenChecks } from '../../forecast/seen-checks.ts';
import { makeDelta } from './make-delta.ts';

/**
 * Makes deltas for Velopack packages from the packages in the store. vpk makes a delta only when the earlier packages are
 * on the disk of the build, and only from the newest one.
 */

/** The deltas that a publisher wants. */
export interface WantedDeltas {
  /** The most deltas for each package. */
  readonly countMax: number;
  /** True in a dry run: deltas are named, and not made. */
  readonly areOnlyNamed: boolean;
}

export const NO_DELTAS: WantedDeltas = { countMax: 0, areOnlyNamed: false };

export interface DeltaRequest extends WantedDeltas {
  readonly application: string;
  readonly artifacts: readonly HashedArtifact[];
  /** The earlier releases of the channel, newest first. */
  readonly older: readonly Release[];
  /** The versions that may update to the release; null: every older version. */
  readonly requires: string | null;
  /** The releases of the version that channels offer. Their packages get no further deltas. */
  readonly offered: readonly Release[];
  /** The release to which the publish adds its files; undefined: there is none. */
  readonly draft: Release | undefined;
}

export interface MadeDeltas {
  /** The artifacts with their deltas, which are files in a temporary directory. */
  readonly artifacts: readonly HashedArtifact[];
  /** Says in sentences why clients get no delta from a version. */
  readonly remarks: readonly string[];
  /** Removes the temporary directory. Called when the files are uploaded. Never fails. */
  remove(): Promise<void>;
}

interface DeltaDeps extends ReaderDeps {
  readonly onProgress: (progress: PublishProgress) => void;
  /** Reads the checks that clients made; absent: unknown. */
  readonly readSeenChecks?: (application: string) => Promise<readonly SeenChecks[]>;
}

/** A client applies a delta more slowly than it downloads a full package, so a large delta is useless. */
const SHARE_MAX = 0.3;

/**
 * A delta that cannot be made is left out, also when the store does not return its base: clients then download the full
 * package.
 *
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function makeDeltas(deps: DeltaDeps, request: DeltaRequest): Promise<MadeDeltas> {
  const { application, artifacts } = request;
  const nothing = { artifacts, remarks: [], remove: async () => {} };
  const isWanted =
    request.countMax > 0 && artifacts.some(({ built }) => isNewPackage(request, built));
  if (!isWanted) return nothing;
  // Reading the counts takes many requests.
  const seen = (await deps.readSeenChecks?.(application)) ?? [];
  const wanted = artifacts.flatMap((artifact) =>
    basesOf(request, artifact, seen).map((base) => ({
      artifact,
      base,
      what: `a delta of ${artifact.main.filename} from ${base.version}`,
    })),
  );
  if (wanted.length === 0) return nothing;
  if (request.areOnlyNamed) {
    return { ...nothing, remarks: wanted.map(({ what }) => `Would make ${what}.`) };
  }
  const stop = new AbortController();
  let directory: TemporaryDirectory;
  try {
    directory = await createTemporaryDirectory('slipway-deltas-', () => stop.abort());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      ...nothing,
      remarks: [`Every client downloads the full package, because no delta was made: ${why}.`],
    };
  }
  try {
    const remarks: string[] = [];
    const made = new Map<HashedArtifact, HashedArtifact>();
    for (const [index, { artifact, base, what }] of wanted.entries()) {
      const { filename, size } = artifact.main;
      const report = (share: number): void =>
        deps.onProgress({
          phase: 'delta',
          filename: what,
          bytesDone: Math.round(size * share),
          bytesTotal: size,
        });
      report(0);
      const folder = path.join(directory.path, String(index));
      const making = { artifact, base, folder, report, signal: stop.signal };
      const delta = await makeOne(deps, application, making);
      if ('problem' in delta) {
        remarks.push(withoutDelta(filename, base.version, delta.problem));
        continue;
      }
      const { companion } = await hashCompanion(deps, artifact.built, delta);
      const known = made.get(artifact) ?? artifact;
      made.set(artifact, { ...known, companions: [...known.companions, companion] });
    }
    return {
      artifacts: artifacts.map((each) => made.get(each) ?? each),
      remarks,
      remove: directory.remove,
    };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}

function withoutDelta(filename: string, version: string, problem: string): string {
  return `Clients of ${version} download the full package, because no delta of ${filename} was made: ${problem}.`;
}

interface Base {
  readonly version: string;
  readonly file: Artifact;
}

type Built = HashedArtifact['built'];

/** A package that a channel offers keeps its deltas: publishing the same files again changes nothing. */
function isNewPackage({ offered }: DeltaRequest, built: Built): boolean {
  return (
    built.format === 'velopack' &&
    !offered.some((release) => findArtifact(release, built) !== undefined)
  );
}

/** The older packages from which most clients update; without counts, the newest ones. */
function basesOf(
  request: DeltaRequest,
  { built, main, companions }: HashedArtifact,
  seen: readonly SeenChecks[],
): readonly Base[] {
  const { older, draft, requires, countMax } = request;
  if (!isNewPackage(request, built)) return [];
  const stored = draft && findArtifact(draft, built);
  // A draft replaces a file of other bytes, and its deltas.
  const kept = stored?.sha256 === main.sha256 ? stored.companions : [];
  const present = [...companions, ...kept]
    .filter(({ kind }) => kind === DELTA)
    .map(({ base }) => base);
  const bases = older.flatMap((release): readonly Base[] => {
    const file = findArtifact(release, built);
    const { version } = release;
    return file === undefined || !mayUpdateFrom(version, requires) ? [] : [{ version, file }];
  });
  const checksOf = ({ version }: Base): number =>
    seen
      .filter((each) => each.version === version && each.platform === built.platform)
      .reduce((sum, { checks }) => sum + checks, 0);
  // Sorting keeps the order of equal elements, so without counts the newest release comes first.
  return bases
    .toSorted((a, b) => checksOf(b) - checksOf(a))
    .filter(({ version }) => !present.includes(version))
    .slice(0, Math.max(0, countMax - present.length));
}

interface Making {
  readonly artifact: HashedArtifact;
  readonly base: Base;
  /** The beginning of the paths that it may use. */
  readonly folder: string;
  /** Gets the share that is done, from 0 to 1. */
  readonly report: (share: number) => void;
  readonly signal: AbortSignal;
}

async function makeOne(
  { store }: ReaderDeps,
  application: string,
  { artifact: { built, main }, base, folder, report, signal }: Making,
): Promise<BuiltCompanion | { readonly problem: string }> {
  const from = `${folder}-from.nupkg`;
  const out = `${folder}-delta.nupkg`;
  const { object, sha256 } = base.file;
  let size: number;
  try {
    const file = { key: artifactKey(application, object), expected: sha256, signal };
    const read = await readFileTwice(store, file, (chunks) =>
      pipeline(chunks, createWriteStream(from)),
    );
    if (read === undefined) return { problem: `the store lacks the package of ${base.version}` };
    if (read.sha256 !== sha256) {
      return { problem: `the stored package of ${base.version} is corrupt: run "slipway verify"` };
    }
    size = await makeDelta({ from, to: built.path }, folder, out, { report, signal });
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return { problem: error.message.replace(/\.$/, '') };
  } finally {
    for (const each of [folder, from]) {
      await rm(each, { recursive: true, force: true }).catch(() => {});
    }
  }
  if (size > main.size * SHARE_MAX) {
    return {
      problem: `it would have ${formatBytes(size)}, more than ${SHARE_MAX * 100}% of the package`,
    };
  }
  const filename = deltaName(main.filename, base.version);
  return { kind: DELTA, base: base.version, path: out, filename, size, stated: [], facts: {} };
}

/**
 * `App-2.0.0-from_1_10_0-delta.nupkg`. The name states the base without dots, because the service finds the release of a
 * file by the versions in its name.
 */
function deltaName(full: string, base: string): string {
  const from = base.replaceAll(/[^0-9A-Za-z]/g, '_');
  return full.replace(/(-full)?\.nupkg$/i, `-from_${from}-delta.nupkg`);
}
