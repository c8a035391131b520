import type { StatusChanged, StatusVerb } from './change-status.ts';

/** Says what the publisher has to do for clients that are left without an update when a release is withdrawn. */
export function withdrawalSentences(
  verb: StatusVerb,
  version: string,
  { clients }: StatusChanged,
): readonly string[] {
  if (verb === 'resume') return [];
  const cutOff = new Map<string, Set<string>>();
  for (const { reason, withheld, channel, installed } of clients) {
    if (reason !== 'must_step_through' || withheld === null) continue;
    // Skips clients that are older than all releases: they may never have been able to reach the newer release.
    if ((installed?.newest ?? null) === null) continue;
    cutOff.set(withheld, (cutOff.get(withheld) ?? new Set()).add(channel));
  }
  const isStuck = clients.some(
    ({ installed, offered }) => installed?.newest === version && offered === null,
  );
  return [
    ...[...cutOff].map(
      ([newer, channels]) =>
        `Without ${version}, older clients on ${[...channels].join(', ')} cannot reach ${newer}, which requires a release in between. ${verb === 'pause' ? `Resume ${version}, or publish` : 'Publish'} a release that they can install and that ${newer} accepts.`,
    ),
    ...(isStuck && verb !== 'pause'
      ? [`Publish a newer release to move clients off ${version}.`]
      : []),
  ];
}
