import type { CarriedDocument } from './carried-document.ts';
import type { Companion, UpdaterFacts } from './companion.ts';
import type { Arch, Format, Platform } from './platform.ts';
import type { ArtifactSignature } from './signature.ts';
import type { SigningFacts } from './signing-facts.ts';
import type { Target } from './target.ts';

/** A release: its artifacts and what the publisher states about it. */

export type DigestAlgorithm = 'sha1' | 'sha256' | 'sha512';

/** Identifies an artifact within a release: no two artifacts of a release have the same identity. */
export interface ArtifactIdentity {
  readonly platform: Platform;
  readonly arch: Arch;
  readonly format: Format;
}

/** A Windows program as its build tool described it, when it was signed after that. */
export interface UnsignedBuild {
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha512: string;
}

export interface Artifact extends ArtifactIdentity, UpdaterFacts {
  /** Unique within the release. */
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Hex. */
  readonly sha512: string;
  /** Dotted numbers: the kernel's version on Windows and Linux, the product's on macOS. */
  readonly minimumOsVersion: string | null;
  /** Absent: the file is as its build tool described it, or no build tool did. */
  readonly unsignedBuild?: UnsignedBuild;
  /** Absent: unknown. */
  readonly signing?: SigningFacts;
  readonly signatures: readonly ArtifactSignature[];
  readonly companions: readonly Companion[];
  /** The place of its bytes, relative to the application: `artifacts/{sha256}/{filename}`. */
  readonly object: string;
  /** See {@link Companion.storedAt}. */
  readonly storedAt?: string;
}

/** Markdown by BCP 47 language tag; `und` is text without a stated language. */
export type ReleaseNotes = Readonly<Record<string, string>>;

interface Provenance {
  readonly commit: string | null;
  readonly buildUrl: string | null;
}

export interface Release {
  readonly application: string;
  /** Strict semver. */
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly releasedAt: string;
  /** The name that the build tool gave the release; null: none. */
  readonly name: string | null;
  readonly notes: ReleaseNotes;
  /** The languages whose notes an operator removed. A publisher cannot add notes in these languages again. */
  readonly notesRemoved: readonly string[];
  /** Range of the versions that may update straight to this release; null: all. */
  readonly requires: string | null;
  /** Range of the versions for which this update is mandatory; null: none. */
  readonly mandatoryFor: string | null;
  /** Targets that get no native builds in this and later releases. */
  readonly endsNative: readonly Target[];
  readonly provenance: Provenance;
  readonly artifacts: readonly Artifact[];
  /** The documents that its publisher signed, by name. */
  readonly carried: readonly CarriedDocument[];
}

/** The artifact of a release with an identity; undefined when there is none. */
export function findArtifact(
  release: Pick<Release, 'artifacts'>,
  identity: ArtifactIdentity,
): Artifact | undefined {
  const { platform, arch, format } = identity;
  return release.artifacts.find(
    (a) => a.platform === platform && a.arch === arch && a.format === format,
  );
}

/** Identifies a file by its bytes and its name. */
export type FileIdentity = Pick<Artifact, 'sha256' | 'filename'>;

/** True when two artifacts have the same bytes under the same name. */
export function isSameFile(a: FileIdentity, b: FileIdentity): boolean {
  return a.sha256 === b.sha256 && a.filename === b.filename;
}

/** `windows-x64-nsis`: for messages and for comparing identities. */
export function identityName(identity: ArtifactIdentity): string {
  return `${identity.platform}-${identity.arch}-${identity.format}`;
}

/** Finds a language in a list. Tags are case-insensitive (RFC 5646 section 2.1.1). */
export function findLocale(locales: readonly string[], wanted: string): string | undefined {
  return locales.find((locale) => locale.toLowerCase() === wanted.toLowerCase());
}

/**
 * The notes in a language (BCP 47); else in the same language of another region; else the text without a language;
 * else in any language. Null when there are no notes.
 */
export function notesFor(notes: ReleaseNotes, locale: string | null): string | null {
  const locales = Object.keys(notes);
  const wanted = locale?.toLowerCase() ?? '';
  const language = wanted.split('-')[0] ?? '';
  const found =
    locales.find((tag) => tag.toLowerCase() === wanted) ??
    (language === ''
      ? undefined
      : (locales.find((tag) => tag.toLowerCase() === language) ??
        locales.find((tag) => tag.toLowerCase().startsWith(`${language}-`)))) ??
    locales.find((tag) => tag === 'und') ??
    locales[0];
  return found === undefined ? null : (notes[found] ?? null);
}
