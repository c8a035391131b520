import { admittedArches } from '../../domain/compatible-arches.ts';
import type { ArtifactIdentity } from '../../domain/release.ts';
import { type Target, targetName } from '../../domain/target.ts';

/** A release that lacks native builds which older releases on its channel have. */
interface LeavingBehind {
  readonly version: string;
  readonly builds: readonly Pick<ArtifactIdentity, 'platform' | 'arch'>[];
  readonly leftBehind: readonly Target[];
}

/**
 * Names the clients that stay on an older release. This is a note and not a warning: another job may publish their
 * builds a minute later.
 */
export function leftBehindSentences(release: LeavingBehind): readonly string[] {
  const { version, builds, leftBehind } = release;
  if (leftBehind.length === 0) return [];
  const feeds = [...new Set(leftBehind.map(({ platform }) => platform))].filter(
    (platform) => platform !== 'linux',
  );
  const canRun = ({ platform, arch }: Target): boolean =>
    builds.some(
      (build) => build.platform === platform && admittedArches(platform, arch).includes(build.arch),
    );
  const options = leftBehind.filter(canRun).map((target) => `--end-native ${targetName(target)}`);
  return [
    `Clients on ${leftBehind.map(targetName).join(', ')} stay on an older release: it has native builds for them, and ${version} has none.`,
    ...(feeds.length === 0
      ? []
      : [
          `Clients of an electron feed without "?arch=" on ${feeds.join(' and ')} also stay on the older release.`,
        ]),
    ...(options.length === 0
      ? []
      : [`If ${version} will get no such builds, publish it again with ${options.join(' ')}.`]),
  ];
}
