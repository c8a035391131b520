import { AppError } from '../core/errors.ts';
import { ARCHES, type Arch, type Platform, parsePlatformAndArch } from './platform.ts';

/** A platform with the architecture of a processor: `windows-arm64`. */
export interface Target {
  readonly platform: Platform;
  readonly arch: Exclude<Arch, 'universal'>;
}

/** The architectures that a processor can have: all but `universal`. */
export const PROCESSOR_ARCHES = ARCHES.filter((arch) => arch !== 'universal');

/** `windows-arm64`: for messages and the command line. */
export function targetName({ platform, arch }: Target): string {
  return `${platform}-${arch}`;
}

/**
 * A target as an operator writes it: `windows-arm64`, `darwin-aarch64`.
 *
 * @throws AppError `unknown_platform`; `unknown_arch` without an architecture, and for `universal`
 */
export function parseTarget(text: string): Target {
  const { platform, arch } = parsePlatformAndArch(text);
  if (arch !== undefined && arch !== 'universal') return { platform, arch };
  const detail = `${JSON.stringify(text.slice(0, 64))} is not a platform with an architecture. Write it like windows-arm64, with one of ${PROCESSOR_ARCHES.join(', ')}.`;
  throw new AppError('unknown_arch', detail, { issues: [{ pointer: '/arch', detail }] });
}
