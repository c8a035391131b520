import { optionOf, waitsFor } from '../../catalog/reading/draft-text.ts';
import { findRevision, readCatalog } from '../../catalog/reading/find-revision.ts';
import { type ListedDraft, listDrafts } from '../../catalog/reading/list-drafts.ts';
import { EVERY_CLIENT, offeredTo, presentShare } from '../../catalog/reading/rollout-text.ts';
import { isDifferential } from '../../domain/companion.ts';
import type { RevisionReference } from '../../domain/revision-reference.ts';
import { listReleases, releaseJsonOf, showRelease } from '../../releases/list/list-releases.ts';
import { type HistoryEntry, readHistory } from '../../releases/list/read-history.ts';
import { findUncovered } from '../../releases/trust/find-uncovered.ts';
import { restrictedSentences } from '../channels/channel-report.ts';
import { openContext } from '../context.ts';
import {
  alignColumns,
  fitColumns,
  formatBytes,
  formatTime,
  printJson,
  printNotes,
  printTable,
} from '../output.ts';
import { draftJson } from '../publish/draft-report.ts';
import { sayState, stateJson } from '../state-report.ts';
import { print, type Terminal } from '../terminal.ts';

interface InspectOptions {
  readonly app?: string;
  readonly at?: RevisionReference;
  readonly json: boolean;
}

export async function releases(terminal: Terminal, options: InspectOptions): Promise<void> {
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  const found = await findRevision(context, application, options.at);
  const { revision, time } = found;
  const listed = listReleases(revision.signed);
  const drafts = listDrafts(revision.signed);
  if (options.json) {
    const items = listed.map(({ channel, offer }) => ({ channel, ...offer }));
    printJson(terminal, {
      app: application,
      ...stateJson(found),
      releases: items,
      drafts: drafts.map(draftJson),
    });
    return;
  }
  const where = context.place.text;
  const uncovered = new Set(
    (await findUncovered(context, revision.signed)).map(
      ({ channel, version }) => `${version} ${channel}`,
    ),
  );
  sayState(terminal, options.at, found);
  if (listed.length === 0 && drafts.length === 0)
    print(terminal, `No channel of ${application} in ${where} lists a release.`);
  else {
    print(
      terminal,
      `Releases of ${application} in ${where} (catalog revision ${revision.signed.revision}):`,
    );
    printTable(
      terminal,
      ['version', 'channel', 'status', 'offered to', 'released', 'platforms', 'reason'],
      [
        ...drafts.map((item) => [
          item.draft.version,
          item.channel,
          'draft',
          'no client',
          '',
          platformsOf(item.draft),
          waitsFor(item),
        ]),
        ...listed.map(({ channel, offer }) => [
          offer.version,
          channel,
          offer.status,
          uncovered.has(`${offer.version} ${channel}`) ? 'no client' : offeredTo(offer, time),
          formatTime(offer.released_at),
          platformsOf(offer),
          uncovered.has(`${offer.version} ${channel}`)
            ? `needs signatures: slipway sign ${offer.version}${optionOf(channel)}`
            : (offer.reason ?? ''),
        ]),
      ],
    );
    const channels = [...new Set([...drafts, ...listed].map(({ channel }) => channel))];
    for (const sentence of restrictedSentences(context.config, application, channels)) {
      print(terminal, sentence);
    }
  }
}

function platformsOf({ artifacts }: Pick<ListedDraft['draft'], 'artifacts'>): string {
  return [...new Set(artifacts.map(({ os, arch }) => `${os}-${arch}`))].sort().join(' ');
}

export async function show(
  terminal: Terminal,
  version: string,
  options: InspectOptions,
): Promise<void> {
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  const found = await findRevision(context, application, options.at);
  const { release, manifest, listed, drafts } = await showRelease(
    context,
    application,
    version,
    found.revision,
  );
  if (options.json) {
    const offers = listed.map(({ channel, offer }) => ({
      channel,
      status: offer.status,
      reason: offer.reason,
      manifest: offer.manifest,
      rollout: offer.rollout ?? null,
    }));
    printJson(terminal, {
      app: application,
      ...stateJson(found),
      version,
      manifest,
      release: releaseJsonOf(release),
      offers,
      drafts: drafts.map(draftJson),
    });
    return;
  }
  sayState(terminal, options.at, found);
  const offerText = ({ channel, offer }: (typeof listed)[number]): string => {
    const share = presentShare(offer.rollout, found.time);
    const to = offer.status === 'active' && share !== EVERY_CLIENT ? `, to ${share}` : '';
    return `${channel} (${offer.status}${to})`;
  };
  const facts = [
    ['name', release.name ?? ''],
    ['released', listed.length === 0 ? '' : formatTime(release.releasedAt)],
    ['channels', listed.map(offerText).join(', ')],
    ...drafts.map((item) => ['draft', `${item.channel}: it ${waitsFor(item)}`]),
    ['requires', release.requires ?? 'nothing'],
    ['mandatory', release.mandatoryFor === null ? 'for no version' : `for ${release.mandatoryFor}`],
    ['commit', release.provenance.commit ?? ''],
    ['build', release.provenance.buildUrl ?? ''],
    ['manifest', String(manifest)],
    ['signed', release.carried.map(({ name }) => name).join(', ')],
  ];
  print(terminal, `${application} ${version} in ${context.place.text}`);
  for (const line of alignColumns(facts.filter(([, value]) => value))) print(terminal, `  ${line}`);
  print(terminal);
  printTable(
    terminal,
    ['os', 'arch', 'format', 'file', 'size', 'differential', 'needs', 'signed', 'sha256'],
    release.artifacts.map((artifact) => [
      artifact.platform,
      artifact.arch,
      artifact.format,
      artifact.filename,
      formatBytes(artifact.size),
      isDifferential(artifact) ? 'yes' : '',
      artifact.minimumOsVersion ?? '',
      artifact.signatures.map(({ scheme }) => scheme).join(' '),
      artifact.sha256,
    ]),
  );
  printNotes(terminal, release.notes);
}

export async function history(
  terminal: Terminal,
  options: { app?: string; limit: number; json: boolean },
): Promise<void> {
  const context = await openContext(terminal);
  const application = options.app ?? context.config.defaultApplication;
  await readCatalog(context, application);
  const entries = await readHistory(context, application, { entriesMax: options.limit });
  if (options.json) {
    printJson(terminal, { app: application, history: entries.map(jsonOf) });
    return;
  }
  print(terminal, `Latest changes of ${application} in ${context.place.text}:`);
  printHistory(terminal, entries);
}

function jsonOf(entry: HistoryEntry): object {
  if ('problem' in entry) return { revision: entry.revision, problem: entry.problem };
  const { at, by, change, previous, skipped } = entry.document;
  return { revision: entry.revision, at, by, change, previous, skipped };
}

const HEADER = 'REVISION AT BY CHANGE VERSION CHANNELS PLATFORMS REASON'.split(' ');
/** The columns with texts of any length. */
const LONG_COLUMNS = ['BY', 'CHANNELS', 'PLATFORMS', 'REASON'].map((title) =>
  HEADER.indexOf(title),
);

/** Prints one line for each change. On a terminal, it cuts long texts, so that each change stays on one line. */
function printHistory(terminal: Terminal, entries: readonly HistoryEntry[]): void {
  const rows = [HEADER, ...entries.map(rowOf)];
  const { isTTY, columns } = terminal.stdout;
  const fitting =
    isTTY === true && columns !== undefined ? fitColumns(rows, columns, LONG_COLUMNS) : rows;
  for (const line of alignColumns(fitting)) print(terminal, line);
}

function rowOf(entry: HistoryEntry): readonly string[] {
  if ('problem' in entry) {
    return [String(entry.revision), '', '', 'UNREADABLE', '', '', '', entry.problem];
  }
  const { at, by, change } = entry.document;
  return [
    String(entry.revision),
    formatTime(at),
    by,
    change.summary === null ? change.kind : `${change.kind} ${change.summary}`,
    change.version ?? '',
    change.channels.join(' '),
    change.targets.join(' '),
    change.reason ?? '',
  ];
}
