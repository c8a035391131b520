import type { BuiltDocument, SkippedFile } from '../build-output.ts';
import { otherVersionIn } from '../name-version.ts';
import { refusal } from '../refusal.ts';
import type { SourceFile } from '../source-file.ts';
import type { Unfinished } from '../unfinished.ts';
import { type AppcastSource, isAppcastPart } from './appcast-source.ts';
import { attachAppcast } from './attach-appcast.ts';

interface AttachedAppcasts {
  readonly skipped: readonly SkippedFile[];
  readonly signed: readonly BuiltDocument[];
  /** The notes of the first appcast that has notes. */
  readonly releaseNotes: string | undefined;
}

/**
 * Reads every appcast of a build, and says why an XML file, a signature of an appcast or a delta is not published.
 *
 * @throws AppError `invalid_artifact`, also when the publisher named such an unpublished file
 */
export async function attachAppcasts(
  appcasts: readonly AppcastSource[],
  sources: readonly SourceFile[],
  packages: readonly Unfinished[],
  version: string,
): Promise<AttachedAppcasts> {
  const skipped: SkippedFile[] = [];
  const signed: BuiltDocument[] = [];
  const used = new Set<string>();
  let releaseNotes: string | undefined;
  for (const appcast of appcasts) {
    const attached = await attachAppcast(appcast, packages, version);
    if (attached.skipped !== undefined) skipped.push(attached.skipped);
    signed.push(...attached.signed);
    releaseNotes ??= attached.releaseNotes;
    for (const path of [appcast.source.path, ...attached.deltas]) used.add(path);
  }
  for (const { path } of signed) used.add(path);
  for (const source of sources.filter(isAppcastPart)) {
    if (used.has(source.path)) continue;
    const reason = whyUnused(source, version);
    if (source.statement !== null) throw refusal(source.path, reason);
    skipped.push({ path: source.path, reason });
  }
  return { skipped, signed, releaseNotes };
}

function whyUnused({ name }: SourceFile, version: string): string {
  const other = otherVersionIn(name, version);
  if (other !== undefined) return `it is of version ${other}, not ${version}`;
  if (/\.delta$/i.test(name)) return `a delta that no appcast beside it lists for ${version}`;
  if (/\.signature$/i.test(name)) return 'the signature of an appcast that is not published';
  return 'neither a feed of a build tool nor an appcast that can be read: RSS of at most 4 MiB, in UTF-8, without a document type';
}
