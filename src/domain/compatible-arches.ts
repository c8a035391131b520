import { ARCHES, type Arch, PLATFORMS, type Platform } from './platform.ts';
import type { Target } from './target.ts';
import { USUAL_ARCHES } from './visitor-machine.ts';

/**
 * Finds the builds that run on a machine, by architecture. `native-builds.ts` decides which of these builds the machine
 * is offered.
 */

/** Windows on Arm and Rosetta 2 run x64 programs. On Linux, few users have an emulator set up. */
export function runsX64ByEmulation(platform: Platform, arch: Arch | null): boolean {
  return arch === 'arm64' && platform !== 'linux';
}

/** True when a build runs on a processor without emulation. */
export function isNativeOn(arch: Arch, build: { readonly arch: Arch }): boolean {
  return build.arch === arch || build.arch === 'universal';
}

/** The architectures of processors that run a build without emulation: two for a universal build. */
export function nativeArches(build: Arch): readonly Target['arch'][] {
  return build === 'universal' ? ['x64', 'arm64'] : [build];
}

/** The build that runs natively on a target; undefined when there is none. */
export function findNativeBuild<B extends { readonly platform: Platform; readonly arch: Arch }>(
  builds: readonly B[],
  { platform, arch }: Target,
): B | undefined {
  return builds.find((build) => build.platform === platform && isNativeOn(arch, build));
}

/**
 * The architectures of builds that run on a machine, best first.
 *
 * @param arch null when the client does not state it
 */
export function admittedArches(platform: Platform, arch: Arch | null): readonly Arch[] {
  return ADMITTED.get(machineName(platform, arch)) ?? [];
}

const ADMITTED = new Map<string, readonly Arch[]>(
  PLATFORMS.flatMap((platform) =>
    [...ARCHES, null].map((arch) => [machineName(platform, arch), listAdmitted(platform, arch)]),
  ),
);

function listAdmitted(platform: Platform, arch: Arch | null): readonly Arch[] {
  if (arch === null) return USUAL_ARCHES[platform];
  if (arch === 'universal') return ['universal'];
  return runsX64ByEmulation(platform, arch) ? [arch, 'universal', 'x64'] : [arch, 'universal'];
}

/** `windows-arm64`; `windows` when the client does not state its architecture. */
export function machineName(platform: Platform, arch: Arch | null): string {
  return arch === null ? platform : `${platform}-${arch}`;
}
