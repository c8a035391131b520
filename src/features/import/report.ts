import type { Context } from '../../cli/context.ts';
import { firstLines, printWhenLive } from '../../cli/output.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { counted } from '../../core/counted.ts';
import { newestTextFirst } from '../../domain/version.ts';
import type { ImportedRelease, ImportResult } from './import-releases.ts';
import type { PlacedRelease } from './place-releases.ts';
import type { ImportSource } from './sources/source.ts';

/** The output of `slipway import`. */

/** True when the import refused a release or a file. The operator must then correct something. */
export function hasRefused({ refused }: ImportSource, { releases }: ImportResult): boolean {
  return (
    refused.length > 0 ||
    releases.some(({ outcome, unknown }) => outcome === 'refused' || unknown.length > 0)
  );
}

export function importJson(source: ImportSource, result: ImportResult): object {
  const { application, releases, created } = result;
  return {
    app: application,
    source: { kind: source.kind, path: source.path },
    imported: releases.filter(({ outcome }) => outcome === 'imported').length,
    present: releases.filter(({ outcome }) => outcome === 'present').length,
    releases: releases.map((each) => ({
      label: each.label,
      version: each.version,
      channel: each.channel,
      released_at: each.releasedAt,
      outcome: each.outcome,
      reason: each.reason,
      files: each.files,
      uploaded: each.uploaded,
      catalog_revision: each.revision ?? null,
      unknown_files: each.unknown,
    })),
    refused: source.refused,
    left_out: source.leftOut,
    created_channels: created,
  };
}

interface Printed extends ImportResult {
  readonly isNewStore: boolean;
  readonly context: Pick<Context, 'config' | 'place'>;
}

export function printImported(terminal: Terminal, source: ImportSource, result: Printed): void {
  const { releases, application, context } = result;
  const imported = releases.filter(({ outcome }) => outcome === 'imported');
  const present = releases.filter(({ outcome }) => outcome === 'present');
  const files = imported.reduce((sum, each) => sum + each.files, 0);
  const where = `${application} in ${context.place.text}`;
  print(
    terminal,
    imported.length === 0
      ? `Nothing was imported from ${source.path} (${source.kind}) into ${where}.`
      : `Imported ${counted(imported.length, 'release')} with ${counted(files, 'file')} from ${source.path} (${source.kind}) into ${where}: ${channelsOf(imported)}.`,
  );
  if (result.isNewStore && imported.length > 0) {
    print(terminal, `Created the store in ${context.place.text}.`);
  }
  if (result.created.length > 0)
    print(
      terminal,
      `Created the ${result.created.length === 1 ? 'channel' : 'channels'} ${result.created.join(', ')}.`,
    );
  printList(terminal, 'Releases:', imported.map(planned));
  if (present.length > 0) {
    print(
      terminal,
      `${counted(present.length, 'release')} ${present.length === 1 ? 'was' : 'were'} there already.`,
    );
  }
  const isLeftOut = ({ outcome }: ImportedRelease) => outcome === 'left_out';
  printIssues(terminal, 'Left out:', [...source.leftOut, ...releases.filter(isLeftOut)]);
  printIssues(terminal, 'Refused:', refusedOf(source, result));
  if (releases.length === 0) print(terminal, nothingFound(source));
  if (hasRefused(source, result)) {
    print(terminal, 'Correct what was refused, and run the same command again: it continues.');
  }
  if (result.announced !== null) printWhenLive(terminal, context, result.announced);
}

function nothingFound({ path, leftOut, refused }: ImportSource): string {
  return leftOut.length + refused.length === 0
    ? `${path} lists no release. Check that it is complete, and that it is the server's own.`
    : `${path} has no release that can be imported.`;
}

function refusedOf(source: ImportSource, { releases }: ImportResult): readonly Issue[] {
  return [
    ...source.refused,
    ...releases.filter(({ outcome }) => outcome === 'refused'),
    ...releases.flatMap(({ label, unknown }) =>
      unknown.map(({ path, reason }) => ({ label, reason: `${path} is not imported: ${reason}` })),
    ),
  ];
}

interface Issue {
  readonly label: string;
  readonly reason: string | null;
}

function printIssues(terminal: Terminal, title: string, issues: readonly Issue[]): void {
  printList(
    terminal,
    title,
    issues.map(({ label, reason }) => `${label}: ${reason ?? ''}`),
  );
}

function printList(terminal: Terminal, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  print(terminal, title);
  // Tags and names come from another server: they may contain control sequences for terminals.
  for (const line of firstLines(lines)) print(terminal, `  ${line}`);
}

function planned({ version, channel, releasedAt, files }: ImportedRelease): string {
  return `${version} to ${channel}, released ${releasedAt.slice(0, 10)}, ${counted(files, 'file')}`;
}

/** `900 on stable, 98 on beta`. */
function channelsOf(releases: readonly ImportedRelease[]): string {
  const counts = new Map<string, number>();
  for (const { channel } of releases) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} on ${name}`).join(', ');
}

type Channels = ImportResult['before'];

/** The question that the import asks before it adds releases to channels that have clients. */
export function importQuestion(before: Channels, added: readonly PlacedRelease[]): string {
  const names = [...new Set(added.map(({ channel }) => channel))];
  return names
    .map((name) => {
      const versions = added.flatMap(({ release, channel }) =>
        channel === name ? [release.version] : [],
      );
      const offered = (before[name]?.offers ?? [])
        .filter(({ status }) => status === 'active')
        .map(({ version }) => version);
      const now = newestOf(offered);
      const has =
        now === undefined ? 'offers the releases of another channel' : `offers up to ${now}`;
      return `Importing adds ${counted(versions.length, 'release')} to ${name}, up to ${newestOf(versions)}. ${name} ${has}, and its clients are offered the imported releases that are newer.`;
    })
    .join('\n');
}

function newestOf(versions: readonly string[]): string | undefined {
  return [...versions].sort((a, b) => newestTextFirst(b, a)).at(-1);
}
