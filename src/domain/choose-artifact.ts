import { admittedArches, runsX64ByEmulation } from './compatible-arches.ts';
import type { OfferedArtifact } from './offer.ts';
import { compareOsVersions, parseOsVersion } from './os-version.ts';
import type { Arch, Format, Platform } from './platform.ts';
import type { ArtifactIdentity } from './release.ts';
import type { MachineQuery } from './update-query.ts';

/** Chooses the artifact of an offer for a machine. */

export type Choice =
  | { readonly artifact: OfferedArtifact }
  | {
      readonly refused: 'unsupported_platform' | 'unsupported_format' | 'unsupported_os_version';
    };

/** The formats that a visitor can open with the platform's own installer, best first. */
const FOR_DOWNLOAD: Readonly<Record<Platform, readonly Format[]>> = {
  macos: ['dmg', 'pkg', 'zip', 'tar.gz'],
  windows: ['nsis', 'msi', 'msix', 'velopack-setup', 'squirrel-setup', 'nsis-web', 'zip'],
  linux: ['appimage', 'deb', 'rpm', 'tar.gz'],
};

/** The formats that an updater can unpack and install, best first. */
const FOR_UPDATE: Readonly<Record<Platform, readonly Format[]>> = {
  macos: ['zip', 'tar.gz', 'dmg', 'pkg'],
  windows: ['nsis', 'msi', 'msix', 'zip'],
  linux: ['appimage', 'deb', 'rpm', 'tar.gz'],
};

/** The best artifact for the query, or the rule that excluded the last candidates. */
export function chooseArtifact(artifacts: readonly OfferedArtifact[], query: MachineQuery): Choice {
  const admitted = admittedArches(query.platform, query.arch);
  let refused: Exclude<Choice, { artifact: unknown }>['refused'] = 'unsupported_platform';
  let best: OfferedArtifact | undefined;
  for (const artifact of artifacts) {
    if (artifact.platform !== query.platform || !admitted.includes(artifact.arch)) continue;
    if (refused === 'unsupported_platform') refused = 'unsupported_format';
    if (!hasWantedFormat(artifact, query)) continue;
    refused = 'unsupported_os_version';
    if (!admitsOs(artifact, query)) continue;
    if (best === undefined || comparePreference(artifact, best, query) < 0) best = artifact;
  }
  return best === undefined ? { refused } : { artifact: best };
}

/** True when the client accepts the artifact's format and signature, and has a system version that is new enough. */
export function suits(artifact: OfferedArtifact, query: MachineQuery): boolean {
  return hasWantedFormat(artifact, query) && admitsOs(artifact, query);
}

/**
 * Formats for a first installation only. An updater would start such an installer again and again, or start a web
 * installer without its package.
 */
const FIRST_INSTALLATION: readonly Format[] = ['velopack-setup', 'squirrel-setup', 'nsis-web'];

function hasWantedFormat(artifact: OfferedArtifact, query: MachineQuery): boolean {
  if (query.formats === null && query.purpose === 'update') {
    if (FIRST_INSTALLATION.includes(artifact.format)) return false;
  }
  if (query.formats !== null && !query.formats.includes(artifact.format)) return false;
  return (
    query.signatureScheme === null || artifact.signatureSchemes.includes(query.signatureScheme)
  );
}

/** Also false when the system versions cannot be compared: an update that cannot start would break the application. */
function admitsOs(artifact: OfferedArtifact, query: MachineQuery): boolean {
  if (artifact.minimumOsVersion === null || query.osGate === 'client') return true;
  const actual = query.osVersion === null ? undefined : parseOsVersion(query.osVersion);
  const minimum = parseOsVersion(artifact.minimumOsVersion);
  if (actual === undefined || minimum === undefined) return false;
  return compareOsVersions(actual, minimum) >= 0;
}

/**
 * Negative when `a` is better for the machine than `b`. Both artifacts must be for the machine's platform. Native
 * builds come before emulated ones; then the rank of the format decides, then the rank of the architecture.
 */
export function comparePreference(
  a: ArtifactIdentity,
  b: ArtifactIdentity,
  query: MachineQuery,
): number {
  return (
    Number(isEmulated(a, query)) - Number(isEmulated(b, query)) ||
    formatRank(a.format, query) - formatRank(b.format, query) ||
    archRank(a.arch, query) - archRank(b.arch, query)
  );
}

function isEmulated(artifact: ArtifactIdentity, query: MachineQuery): boolean {
  // Machines that do not state their architecture mostly run 64-bit programs, so 32-bit builds come last.
  if (query.arch === null) return artifact.arch === 'ia32';
  return artifact.arch === 'x64' && runsX64ByEmulation(query.platform, query.arch);
}

function formatRank(format: Format, query: MachineQuery): number {
  const ranks =
    query.formats ?? (query.purpose === 'download' ? FOR_DOWNLOAD : FOR_UPDATE)[query.platform];
  const rank = ranks.indexOf(format);
  return rank < 0 ? ranks.length : rank;
}

function archRank(arch: Arch, query: MachineQuery): number {
  return admittedArches(query.platform, query.arch).indexOf(arch);
}
