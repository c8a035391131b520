import { nativeArches } from '../../domain/compatible-arches.ts';
import { archOf, type Platform } from '../../domain/platform.ts';
import type { Target } from '../../domain/target.ts';

/**
 * The architectures of the usual CI machines: a tool builds for these architectures when its configuration names none.
 */
const USUAL: Readonly<Record<Platform, Target['arch']>> = {
  windows: 'x64',
  macos: 'arm64',
  linux: 'x64',
};

/**
 * @param arches words of a configuration, such as `arm64` and `universal`; when this list is empty, a tool builds for
 *   the architecture of its machine
 */
export function targetsOf(platform: Platform, arches: readonly string[]): readonly Target[] {
  const known = arches.flatMap((word) => archOf(word) ?? []);
  const native = known.length === 0 ? [USUAL[platform]] : known.flatMap(nativeArches);
  return [...new Set(native)].map((arch) => ({ platform, arch }));
}
