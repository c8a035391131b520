import type { UpdaterFacts } from '../domain/companion.ts';
import type { Arch } from '../domain/platform.ts';
import type { UnsignedBuild } from '../domain/release.ts';
import type { ArtifactSignature } from '../domain/signature.ts';
import type { BuiltArtifact, BuiltCompanion, StatedDigest } from './build-output.ts';
import { needsBlockmap } from './electron/electron-builder.ts';
import type { Package } from './identify.ts';
import { readInsideFacts } from './inside-facts.ts';
import { containsVersion } from './name-version.ts';
import { isAppArchive } from './tauri/tauri.ts';

/** A package to which sidecars and feeds still add facts. */
export interface Unfinished {
  package: Package;
  minimumOsVersion: string | null;
  readonly stated: StatedDigest[];
  readonly signatures: ArtifactSignature[];
  readonly companions: UnfinishedCompanion[];
  facts: UpdaterFacts;
  /** See {@link BuiltArtifact.readBlockmap}. */
  readBlockmap?: BuiltArtifact['readBlockmap'] | undefined;
  /** See {@link BuiltArtifact.hasUnreadableBlockmap}. */
  hasUnreadableBlockmap?: boolean;
  unsignedBuild?: UnsignedBuild | undefined;
}

/** A companion to which the feeds of its package still add facts. */
export interface UnfinishedCompanion extends BuiltCompanion {
  arch?: Arch;
  filename: string;
  readonly stated: StatedDigest[];
  facts: UpdaterFacts;
}

export function createUnfinished(identified: Package): Unfinished {
  return {
    package: identified,
    minimumOsVersion: identified.minimumOsVersion,
    stated: [],
    signatures: [],
    companions: [],
    facts: {},
  };
}

/** @param version the version that is published */
export function finishPackage(unfinished: Unfinished, version: string): BuiltArtifact {
  const { file, platform, arch, format, filename } = unfinished.package;
  const { minimumOsVersion, stated, signatures, companions, facts, readBlockmap, unsignedBuild } =
    unfinished;
  return {
    path: file.path,
    filename,
    size: file.size,
    platform,
    arch,
    format,
    hasUnversionedName: isAppArchive(file.name) && !containsVersion(filename, version),
    needsBlockmap: needsBlockmap(file, unfinished.package),
    ...(unsignedBuild === undefined ? {} : { unsignedBuild }),
    minimumOsVersion,
    stated,
    signatures,
    companions,
    facts,
    readInside: () => readInsideFacts(unfinished.package),
    ...(readBlockmap === undefined ? {} : { readBlockmap }),
    ...(unfinished.hasUnreadableBlockmap === true ? { hasUnreadableBlockmap: true } : {}),
  };
}
