import {
  type Latest,
  type LatestQuery,
  listLatest,
} from '../../answers/latest-version/list-latest.ts';
import type { ServiceDeps } from '../../answers/open-channel.ts';
import { isAppError } from '../../core/errors.ts';
import { admittedArches } from '../../domain/compatible-arches.ts';
import type { Platform } from '../../domain/platform.ts';
import { isSameFile } from '../../domain/release.ts';
import type { VisitorMachine } from '../../domain/visitor-machine.ts';

type Download = Latest['downloads'][number];

export interface Suggestion {
  /** The files to offer first: one; or two, for a Mac with an unknown processor; or none that runs on the machine. */
  readonly downloads: readonly Download[];
  /** What the files were chosen from, to see whether a change came in between. */
  readonly seen: readonly Pick<Latest, 'channel' | 'completed'>[];
}

/**
 * The files that a page offers to visitors on a platform first: what the download button of the platform gives.
 *
 * @param arch null when the browser does not state it
 * @throws AppError those of {@link listLatest}, but not `unsupported_platform`
 */
export async function suggestDownloads(
  deps: ServiceDeps,
  channel: Pick<LatestQuery, 'application' | 'channel'>,
  platform: Platform,
  arch: Extract<VisitorMachine, { kind: 'computer' }>['arch'],
): Promise<Suggestion> {
  const best = await bestFor(deps, { ...channel, platform, arch });
  // Safari and Firefox do not tell an Intel Mac from one with Apple silicon.
  const isUnsure = platform === 'macos' && arch === null && best.downloads[0] !== undefined;
  if (!isUnsure || best.downloads[0]?.artifact.arch === 'universal') return best;
  const apple = await bestFor(deps, { ...channel, platform, arch: 'arm64' });
  const intel = await bestFor(deps, { ...channel, platform, arch: 'x64' });
  const [first] = apple.downloads;
  const others = intel.downloads.filter(
    ({ artifact }) => first === undefined || !isSameFile(artifact, first.artifact),
  );
  return {
    downloads: [...apple.downloads, ...others],
    seen: [...best.seen, ...apple.seen, ...intel.seen],
  };
}

async function bestFor(deps: ServiceDeps, query: LatestQuery): Promise<Suggestion> {
  const { platform, arch } = query;
  try {
    const latest = await listLatest(deps, query, null);
    const [first] = latest.downloads;
    const runs =
      first !== undefined &&
      platform !== null &&
      admittedArches(platform, arch).includes(first.artifact.arch);
    return { downloads: runs ? [first] : [], seen: [latest] };
  } catch (error) {
    if (!isAppError(error, 'unsupported_platform')) throw error;
    return { downloads: [], seen: [] };
  }
}
