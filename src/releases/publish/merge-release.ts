import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../core/errors.ts';
import type { CarriedDocument } from '../../domain/carried-document.ts';
import { findNativeBuild } from '../../domain/compatible-arches.ts';
import {
  type Artifact,
  findLocale,
  identityName,
  isSameFile,
  type Release,
} from '../../domain/release.ts';
import { type Target, targetName } from '../../domain/target.ts';
import { joinArtifacts, refuseOtherSignature, withTrustedKeys } from './merge-artifact.ts';
import { mergeCarried } from './merge-carried.ts';

/** The description of a release by its build tool. A statement of the publisher takes precedence. */
export interface DescribedRelease {
  readonly name: string | null;
  /** Notes without a language; null: none. */
  readonly notes: string | null;
}

/** The contribution of one publisher to a release that others may publish at the same time. */
export interface Contribution {
  readonly application: string;
  readonly version: string;
  /** ISO 8601, UTC; used when the release is new. */
  readonly releasedAt: string;
  /** Undefined keeps the value of the release. */
  readonly notes: Release['notes'] | undefined;
  /** The statements of the build tool, for facts that the release does not state yet. */
  readonly described: DescribedRelease;
  readonly requires: string | undefined;
  readonly mandatoryFor: string | undefined;
  /** These targets are added to the targets that the release states already. */
  readonly endsNative: readonly Target[];
  readonly provenance: Release['provenance'];
  readonly artifacts: readonly Artifact[];
  /** The documents that the publisher signed. */
  readonly carried: readonly CarriedDocument[];
  /** True when the publisher stated the keys that the builds trust: then this statement replaces an earlier one. */
  readonly statesTrustedKeys: boolean;
}

/**
 * Adds a contribution to a release.
 *
 * Files that were offered are never replaced, because clients may have them. Files that were only uploaded may be
 * replaced: a CI job that runs again builds other bytes.
 *
 * @param newest the newest manifest's release, offered or not
 * @param offered the releases that some channel offers or offered
 * @param base the release that has the statements, such as the notes; default: the last of `offered`, else `newest`
 * @throws AppError `release_differs`
 */
export function mergeRelease(
  newest: Release | undefined,
  offered: readonly Release[],
  mine: Contribution,
  base = offered.at(-1) ?? newest,
): Release {
  const fixed = new Map(
    offered.flatMap((release) => release.artifacts.map((a) => [identityName(a), a])),
  );
  const artifacts = new Map(newest?.artifacts.map((a) => [identityName(a), a]));
  for (const [name, artifact] of fixed) artifacts.set(name, artifact);
  for (const artifact of mine.artifacts) {
    const name = identityName(artifact);
    const offeredArtifact = fixed.get(name);
    const existing = offeredArtifact ?? artifacts.get(name);
    if (existing !== undefined && isSameFile(existing, artifact)) {
      // An offered build takes precedence, because clients may have it. In a draft, the newest build takes precedence,
      // because it may be signed with another key.
      const isOffered = offeredArtifact !== undefined;
      if (isOffered) refuseOtherSignature(mine.version, existing, artifact);
      const [first, second] = isOffered ? [existing, artifact] : [artifact, existing];
      const joined = joinArtifacts(first, second, artifact);
      artifacts.set(name, mine.statesTrustedKeys ? withTrustedKeys(joined, artifact) : joined);
    } else if (offeredArtifact !== undefined) {
      throw differs(mine.version, offeredArtifact, artifact);
    } else {
      artifacts.set(name, artifact);
    }
  }
  refuseSharedNames([...artifacts.values()], mine);
  refuseEndedBuilds(mine, [...artifacts.values()]);
  const endsNative = mergeTargets(base?.endsNative ?? [], mine.endsNative).filter(
    (target) => findNativeBuild([...artifacts.values()], target) === undefined,
  );
  return {
    application: mine.application,
    version: mine.version,
    releasedAt: base?.releasedAt ?? mine.releasedAt,
    ...mergeStatements(base, offered.length > 0, mine),
    endsNative,
    provenance: base?.provenance ?? mine.provenance,
    artifacts: [...artifacts.values()].sort((a, b) => (identityName(a) < identityName(b) ? -1 : 1)),
    carried: mergeCarried(newest, offered, mine),
  };
}

/**
 * Reports whether two releases state the same, including the objects with their bytes. The dates of files do not count,
 * because only a manifest gives a file its date.
 */
export function isSameRelease(a: Release, b: Release): boolean {
  return isDeepStrictEqual(withoutDates(a), withoutDates(b));
}

function withoutDates({ artifacts, ...release }: Release) {
  const undated = artifacts.map(({ storedAt: _date, companions, ...artifact }) => ({
    ...artifact,
    companions: companions.map(({ storedAt: _companionDate, ...companion }) => companion),
  }));
  return { ...release, artifacts: undated };
}

function mergeStatements(
  base: Release | undefined,
  isOffered: boolean,
  mine: Contribution,
): Pick<Release, 'name' | 'notes' | 'notesRemoved' | 'requires' | 'mandatoryFor'> {
  const name = base?.name ?? mine.described.name;
  if (base === undefined || !isOffered) {
    return {
      name,
      notes: orDescribed(mine.notes ?? base?.notes ?? {}, [], mine),
      notesRemoved: [],
      requires: mine.requires ?? base?.requires ?? null,
      mandatoryFor: mine.mandatoryFor ?? base?.mandatoryFor ?? null,
    };
  }
  refuseChanged(base.version, '--requires', base.requires, mine.requires);
  refuseChanged(base.version, '--mandatory-for', base.mandatoryFor, mine.mandatoryFor);
  const { notesRemoved, requires, mandatoryFor } = base;
  const notes = orDescribed(mergeNotes(base, mine.notes ?? {}), notesRemoved, mine);
  return { name, notes, notesRemoved, requires, mandatoryFor };
}

/**
 * The notes of the release. If the release has no notes, and no operator removed notes, the notes of the build tool
 * take their place.
 */
function orDescribed(
  notes: Release['notes'],
  removed: readonly string[],
  { described }: Contribution,
): Release['notes'] {
  const hasOwn = Object.keys(notes).length > 0 || removed.length > 0;
  return hasOwn || described.notes === null ? notes : { und: described.notes };
}

/** A publisher may add a language. Notes that an operator corrected or removed stay as they are. */
function mergeNotes(base: Release, added: Release['notes']): Release['notes'] {
  const notes = { ...base.notes };
  for (const [locale, text] of Object.entries(added)) {
    const known = findLocale(Object.keys(notes), locale);
    const isRemoved = findLocale(base.notesRemoved, locale) !== undefined;
    if (isRemoved || (known !== undefined && notes[known] !== text)) {
      throw notesDiffer(base.version, locale, known === undefined ? undefined : notes[known]);
    }
    notes[known ?? locale] = text;
  }
  return notes;
}

function notesDiffer(version: string, locale: string, existing: string | undefined): AppError {
  const language = locale === 'und' ? '' : ` in ${locale}`;
  const has =
    existing === undefined
      ? `had notes${language}, and they were removed`
      : `has other notes${language} (${JSON.stringify(existing.slice(0, 80))})`;
  const file = locale === 'und' ? 'FILE' : `${locale}=FILE`;
  return new AppError(
    'release_differs',
    `${version} ${has}. Leave out --notes-file. To correct the notes of a release that is out: slipway notes ${version} --file ${file}.`,
  );
}

/**
 * Targets may be added to a release that was offered: its files stay the same, and more machines may install them. A
 * native build that another publisher adds later removes its target again.
 */
function mergeTargets(existing: readonly Target[], added: readonly Target[]): readonly Target[] {
  const targets = new Map([...existing, ...added].map((target) => [targetName(target), target]));
  return [...targets.values()].sort((a, b) => (targetName(a) < targetName(b) ? -1 : 1));
}

function refuseEndedBuilds(mine: Contribution, artifacts: readonly Artifact[]): void {
  for (const target of mine.endsNative) {
    const native = findNativeBuild(artifacts, target);
    if (native === undefined) continue;
    throw new AppError(
      'release_differs',
      `${mine.version} has a native build for ${targetName(target)}: ${native.filename}. Leave out --end-native ${targetName(target)}, or publish a new version without that file.`,
    );
  }
}

function refuseChanged(
  version: string,
  option: string,
  existing: string | null,
  wanted: string | undefined,
): void {
  if (wanted === undefined || wanted === existing) return;
  const has = existing === null ? 'none' : JSON.stringify(existing.slice(0, 80));
  throw new AppError(
    'release_differs',
    `${version} was published with another ${option} (${has}), and clients may have acted on it. Leave the option out, or publish a new version.`,
  );
}

/** The error for other files under a version that was published. */
export function differs(version: string, existing: Artifact, wanted: Artifact): AppError {
  const what =
    existing.filename === wanted.filename
      ? `its sha256 is ${existing.sha256.slice(0, 12)}…, and that of this file is ${wanted.sha256.slice(0, 12)}…`
      : `its name is ${existing.filename}, and that of this file is ${wanted.filename}`;
  return new AppError(
    'release_differs',
    `${version} was published with another ${identityName(existing)}: ${what}. A published file is never replaced. Publish a new version.`,
  );
}

function refuseSharedNames(artifacts: readonly Artifact[], mine: Contribution): void {
  const owners = new Map<string, string>();
  for (const artifact of artifacts) {
    for (const { filename } of [artifact, ...artifact.companions]) {
      const owner = owners.get(filename);
      if (owner !== undefined) {
        throw new AppError(
          'release_differs',
          `Two artifacts of ${mine.version} have the name ${filename}: ${owner} and ${identityName(artifact)}. Give one of them another name with FILE,name=….`,
        );
      }
      owners.set(filename, identityName(artifact));
    }
  }
}
