import type { NamedMachine } from '../domain/common-release.ts';
import { machineName } from '../domain/compatible-arches.ts';
import type { Format } from '../domain/platform.ts';

/**
 * For a macOS client that states no architecture: the machines on which the client may run. The client gets a release
 * that suits both machines, and the build for the first machine: an x64 build runs on every Mac, but an arm64 build
 * runs on no Intel Mac. A channel without any x64 build serves no Intel Macs, so its clients get the arm64 build.
 */
export function anyMac(formats: readonly Format[]): readonly NamedMachine[] {
  return (['x64', 'arm64'] as const).map((arch) => ({
    name: machineName('macos', arch),
    platform: 'macos',
    arch,
    formats,
  }));
}
