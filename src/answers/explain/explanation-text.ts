import { waitsFor } from '../../catalog/reading/draft-text.ts';
import { formatTime } from '../../core/time-text.ts';
import { machineName } from '../../domain/compatible-arches.ts';
import { newestTextFirst, versionText } from '../../domain/version.ts';
import type { Explanation } from './explanation.ts';
import { obstacleOf, statusText } from './rules-text.ts';
import { FORECAST, unreadableRemark } from './state-text.ts';

/** An explanation in words. */

/** The whole answer in a sentence or two. */
export function answer(explanation: Explanation): string {
  const { request, releases, channel, decision } = explanation;
  const { application, currentVersion, platform, arch } = request.query;
  const installed = currentVersion === null ? '' : ` ${versionText(currentVersion)}`;
  const client = `${application}${installed} on ${machineName(platform, arch)}`;
  if (decision.reason === 'offer') {
    const { artifact, mandatory } = decision;
    const version = versionText(decision.offer.version);
    const build = `${machineName(artifact.platform, artifact.arch)} ${artifact.format}`;
    const must = mandatory ? ' The update is mandatory.' : '';
    const source = releases.at(-1)?.listing.channel ?? channel;
    const on = source === channel ? channel : `${channel}, which has it from ${source}`;
    const offered = `${client} is offered ${version} (${build}) on ${on}.${must}`;
    const newer = releases.find(({ outcome }) => outcome !== 'offer');
    if (newer === undefined) return offered;
    return `${offered} It is not offered ${newer.version}: ${obstacleOf(newer, explanation)}.`;
  }
  const nothing = `${client} is offered no update on ${channel}`;
  const held = releases.find(({ outcome }) => outcome === decision.reason) ?? releases[0];
  if (decision.reason === 'not_entitled') return `${nothing}: ${closedTo(explanation)}.`;
  if (decision.reason === 'no_release') return `${nothing}: the channel offers no release.`;
  if (held !== undefined) {
    const is = currentVersion === null ? 'is on the channel' : 'is newer';
    return `${nothing}: ${held.version} ${is}, but ${obstacleOf(held, explanation)}.`;
  }
  return `${nothing}: the channel has no newer release.${explanation.newest === null ? '' : ` Its newest is ${explanation.newest}.`}`;
}

function closedTo({ request: { tier }, openTo }: Explanation): string {
  const client = tier === null ? 'a client that is not signed in' : `tier ${tier}`;
  const open = openTo.length === 0 ? '' : `, and open to tier ${openTo.join(', ')}`;
  return `the channel is closed to ${client}${open}`;
}

/** `Decided for 2026-11-22 10:00:00Z from catalog revision 12 (pause 1.5.0, 2026-11-22 09:00:00Z, ada)` */
export function decidedFrom({ state }: Explanation): string {
  const { revision, at, by, change } = state.revision.signed;
  const what = [change.kind, change.version ?? change.summary]
    .filter((word) => word !== null)
    .join(' ');
  const time = formatTime(new Date(state.time).toISOString());
  const decided = state.isForecast ? 'A forecast for' : 'Decided for';
  return `${decided} ${time} from catalog revision ${revision} (${what}, ${formatTime(at)}, ${by})`;
}

/** A line for each release, also for the releases that every decision leaves out. */
export function reasonRows(explanation: Explanation): readonly (readonly string[])[] {
  const { releases, passedOver, inherits, statusChanges } = explanation;
  const on = (name: string): string => (inherits.length === 0 ? '' : `on ${name}`);
  const rows = [
    ...releases.map((release) => ({
      version: release.version,
      cells:
        release.outcome === 'offer'
          ? ['OFFERED', on(release.listing.channel), 'every rule admits this client']
          : [
              'not offered',
              on(release.listing.channel),
              obstacleOf(release, explanation, statusChanges),
            ],
    })),
    ...passedOver.map(({ channel: name, offer, why }) => ({
      version: offer.version,
      cells: [
        'not offered',
        on(name),
        why === 'yanked'
          ? `it is ${statusText({ channel: name, offer }, statusChanges)}`
          : 'its manifest cannot be verified',
      ],
    })),
  ].sort((a, b) => newestTextFirst(a.version, b.version));
  const lines = rows.map(({ version, cells: [result = '', name = '', why = ''] }) =>
    [version, result, name, why].filter((cell) => cell !== ''),
  );
  if (explanation.omitted === 0) return lines;
  const more = `${explanation.omitted} more, with the same rules`;
  const row = ['…', 'not offered', ...(inherits.length === 0 ? [] : ['']), more];
  return explanation.decision.reason === 'offer'
    ? [...lines.slice(0, -1), row, ...lines.slice(-1)]
    : [...lines, row];
}

/** @param app the option with which commands name the application, see `appOption` */
export function remarks(explanation: Explanation, app: string): readonly string[] {
  const { request, inherits, channel, drafts, state } = explanation;
  return [
    ...(state.isForecast ? [FORECAST] : []),
    ...unreadableRemark(state),
    ...installedRemarks(explanation),
    ...(inherits.length === 0
      ? []
      : [`Clients of ${channel} also see the releases of ${inherits.join(', ')}.`]),
    ...(explanation.goesBack
      ? [
          'The client accepts an older version and the channel permits it, so older releases count as well.',
        ]
      : []),
    ...(request.query.isManual
      ? [
          explanation.isEarly
            ? `A person asks by hand, and ${channel} gives early access: a rollout holds back only what is at 0%.`
            : `A person asks by hand, but ${channel} gives no early access.`,
        ]
      : []),
    ...drafts.map(
      (item) => `${item.draft.version} is a draft on ${item.channel}: it ${waitsFor(item, app)}.`,
    ),
  ];
}

function installedRemarks({
  installed: { state, listing, elsewhere },
  channel,
  request,
  statusChanges,
}: Explanation): readonly string[] {
  const { currentVersion } = request.query;
  const own = currentVersion === null ? 'The client' : versionText(currentVersion);
  const also = elsewhere.length === 0 ? '' : ` It is listed on ${elsewhere.join(', ')}.`;
  switch (state) {
    case 'yanked':
    case 'paused': {
      if (listing === undefined) return [];
      const kept = state === 'paused' ? 'keep it' : 'move to the next newer release';
      const status = statusText(listing, statusChanges, ` on ${listing.channel}`);
      return [`${own}, which the client runs, is ${status}. Clients that have it ${kept}.`];
    }
    case 'retired':
      return [`${own}, which the client runs, was retired from ${channel}.${also}`];
    case 'not_listed':
      return [`${own}, which the client runs, is not listed on ${channel}.${also}`];
    default:
      return [];
  }
}
