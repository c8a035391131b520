import { AppError } from '../errors.ts';
import { ARCHES, type Arch, PLATFORMS, type Platform, parsePlatformAndArch } from './platform.ts';
import type { Target } from './release.ts';

/** Which builds run on which machine. */

/** Those that a processor can have. */
export const SINGLE_ARCHES = ARCHES.filter((arch): arch is Target['arch'] => arch !== 'universal');

/** Windows on Arm and Rosetta 2 run x64 programs. On Linux that needs a set-up that few users have. */
export function runsX64ByEmulation(platform: Platform, arch: Arch | null): boolean {
  return arch === 'arm64' && platform !== 'linux';
}

/** Whether the build runs on such a processor without emulation. */
export function isNativeOn(arch: Arch, build: { readonly arch: Arch }): boolean {
  return build.arch === arch || build.arch === 'universal';
}

/**
 * A kind of machine as people write it: `windows-arm64`, `darwin-aarch64`.
 *
 * @throws AppError `unknown_platform`; `unknown_arch` without an architecture, and for `universal`
 */
export function parseTarget(text: string): Target {
  const { platform, arch } = parsePlatformAndArch(text);
  if (arch !== undefined && arch !== 'universal') return { platform, arch };
  const detail = `${JSON.stringify(text.slice(0, 64))} names no kind of machine: write it like windows-arm64, with one of ${SINGLE_ARCHES.join(', ')}.`;
  throw new AppError('unknown_arch', detail, { issues: [{ pointer: '/arch', detail }] });
}

/** The build that runs natively on machines of a kind; undefined when there is none. */
export function findNativeBuild<B extends { readonly platform: Platform; readonly arch: Arch }>(
  builds: readonly B[],
  { platform, arch }: Target,
): B | undefined {
  return builds.find((build) => build.platform === platform && isNativeOn(arch, build));
}

/** Architectures of artifacts that run on a machine, best first; null: a machine that does not say. */
export function admittedArches(platform: Platform, arch: Arch | null): readonly Arch[] {
  return ADMITTED.get(machineName(platform, arch)) ?? [];
}

const ADMITTED = new Map<string, readonly Arch[]>(
  PLATFORMS.flatMap((platform) =>
    [...ARCHES, null].map((arch) => [machineName(platform, arch), computeAdmitted(platform, arch)]),
  ),
);

function computeAdmitted(platform: Platform, arch: Arch | null): readonly Arch[] {
  if (arch === null)
    return platform === 'macos' ? ['universal', 'arm64', 'x64'] : ['universal', 'x64'];
  if (arch === 'universal') return ['universal'];
  return runsX64ByEmulation(platform, arch) ? [arch, 'universal', 'x64'] : [arch, 'universal'];
}

export function machineName(platform: Platform, arch: Arch | null): string {
  return arch === null ? platform : `${platform}-${arch}`;
}
