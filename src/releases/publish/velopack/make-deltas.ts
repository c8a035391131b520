import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BuiltArtifact, BuiltCompanion } from '../../../builds/build-output.ts';
import { artifactKey } from '../../../catalog/keys.ts';
import type { ReaderDeps } from '../../../catalog/read.ts';
import { formatBytes } from '../../../core/counted.ts';
import { isAppError } from '../../../core/errors.ts';
import { DELTA } from '../../../domain/companion.ts';
import { type Artifact, findArtifact, type Release } from '../../../domain/release.ts';
import type { SeenChecks } from '../../forecast/seen-checks.ts';
import type { PublishProgress } from '../hash-artifacts.ts';
import { makeDelta } from './make-delta.ts';

/**
 * Makes deltas for Velopack packages from the packages in the store. vpk makes a delta only when the earlier packages are
 * on the disk of the build, and only from the newest one.
 */

export interface DeltaRequest {
  readonly application: string;
  readonly artifacts: readonly BuiltArtifact[];
  /** The earlier releases of the channel, newest first. */
  readonly older: readonly Release[];
  /** The newest manifest of the version; undefined: there is none. */
  readonly known: Release | undefined;
  /** The checks that clients made; empty: unknown. */
  readonly seen: readonly SeenChecks[];
  /** The most deltas for each package. */
  readonly countMax: number;
}

export interface MadeDeltas {
  /** The artifacts with their deltas, which are files in a temporary directory. */
  readonly artifacts: readonly BuiltArtifact[];
  /** Says in sentences why a delta was not made. */
  readonly remarks: readonly string[];
  /** Removes the temporary directory. Called when the files are uploaded. */
  remove(): Promise<void>;
}

type DeltaDeps = ReaderDeps & { readonly onProgress: (progress: PublishProgress) => void };

/** A client applies a delta more slowly than it downloads a full package, so a large delta is useless. */
const SHARE_MAX = 0.3;

const NOTHING: Omit<MadeDeltas, 'artifacts'> = { remarks: [], remove: async () => {} };

/**
 * A delta that cannot be made is left out, because clients then download the full package.
 *
 * @throws AppError `store_unavailable`, `store_denied`
 */
export async function makeDeltas(deps: DeltaDeps, request: DeltaRequest): Promise<MadeDeltas> {
  const { artifacts } = request;
  const wanted = artifacts.flatMap((artifact) =>
    basesOf(request, artifact).map((base) => ({ artifact, base })),
  );
  if (wanted.length === 0) return { artifacts, ...NOTHING };
  const directory = await mkdtemp(path.join(tmpdir(), 'slipway-deltas-'));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const remarks: string[] = [];
    const made = new Map<BuiltArtifact, BuiltCompanion[]>();
    for (const [index, { artifact, base }] of wanted.entries()) {
      const { filename, size } = artifact;
      const what = `a delta of ${filename} from ${base.version}`;
      deps.onProgress({ phase: 'delta', filename: what, bytesDone: 0, bytesTotal: size });
      const folder = path.join(directory, String(index));
      const delta = await makeOne(deps, request.application, artifact, base, folder);
      if ('problem' in delta) remarks.push(`Did not make ${what}: ${delta.problem}.`);
      else made.set(artifact, [...(made.get(artifact) ?? []), delta]);
    }
    return {
      artifacts: artifacts.map((each) => ({
        ...each,
        companions: [...each.companions, ...(made.get(each) ?? [])],
      })),
      remarks,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface Base {
  readonly version: string;
  readonly file: Artifact;
}

/** The older packages from which most clients update; without counts, the newest ones. */
function basesOf(
  { older, known, seen, countMax }: DeltaRequest,
  artifact: BuiltArtifact,
): readonly Base[] {
  if (artifact.format !== 'velopack') return [];
  const stored = known && findArtifact(known, artifact);
  // A draft replaces a file of other bytes, and its deltas.
  const kept = stored?.size === artifact.size ? stored.companions : [];
  const present = [...artifact.companions, ...kept]
    .filter(({ kind }) => kind === DELTA)
    .map(({ base }) => base);
  const bases = older.flatMap((release): readonly Base[] => {
    const file = findArtifact(release, artifact);
    return file === undefined ? [] : [{ version: release.version, file }];
  });
  const checksOf = ({ version }: Base): number =>
    seen
      .filter((each) => each.version === version && each.platform === artifact.platform)
      .reduce((sum, { checks }) => sum + checks, 0);
  // Sorting keeps the order of equal elements, so without counts the newest release comes first.
  return bases
    .toSorted((a, b) => checksOf(b) - checksOf(a))
    .filter(({ version }) => !present.includes(version))
    .slice(0, Math.max(0, countMax - present.length));
}

async function makeOne(
  { store }: DeltaDeps,
  application: string,
  artifact: BuiltArtifact,
  base: Base,
  folder: string,
): Promise<BuiltCompanion | { readonly problem: string }> {
  const from = `${folder}-from.nupkg`;
  const out = `${folder}-delta.nupkg`;
  const object = await store.read(artifactKey(application, base.file.object));
  if (object === undefined) return { problem: `the package of ${base.version} is missing` };
  const hash = createHash('sha256');
  const hashed = async function* (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  let size: number;
  try {
    await pipeline(object.stream, hashed, createWriteStream(from));
    if (hash.digest('hex') !== base.file.sha256) {
      return { problem: `the stored package of ${base.version} is corrupt (slipway verify)` };
    }
    size = await makeDelta({ from, to: artifact.path }, folder, out);
  } catch (error) {
    if (isAppError(error) || !(error instanceof Error)) throw error;
    return { problem: error.message };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(from, { force: true });
  }
  if (size > artifact.size * SHARE_MAX) {
    return {
      problem: `it would have ${formatBytes(size)}, more than ${SHARE_MAX * 100}% of the package`,
    };
  }
  const filename = deltaName(artifact.filename, base.version);
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
