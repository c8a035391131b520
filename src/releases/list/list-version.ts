import { channelEntries, type RevisionJson } from '../../catalog/documents/revision-document.ts';
import { unknownChannel } from '../../catalog/reading/unknown-release.ts';
import { listReleases } from './list-releases.ts';

/** Reads what a catalog revision says about versions, for commands that show counts of them. */

/** The channels that offer one version, and the channels that offered it. */
export interface ListedVersion {
  readonly listed: ReturnType<typeof listReleases>;
  /** The channels from which the version was retired. */
  readonly retiredFrom: readonly string[];
}

export function listVersion(revision: RevisionJson, version: string): ListedVersion {
  return {
    listed: listReleases(revision).filter(({ offer }) => offer.version === version),
    retiredFrom: channelEntries(revision.channels)
      .filter(([, { retired }]) => retired.includes(version))
      .map(([name]) => name),
  };
}

/** The versions on the channel's own list, or on the lists of all channels; newest first. */
export function listedVersions(
  revision: RevisionJson,
  channel: string | undefined,
): readonly string[] {
  const listed = listReleases(revision).filter(
    (item) => channel === undefined || item.channel === channel,
  );
  return [...new Set(listed.map(({ offer }) => offer.version))];
}

/** @throws AppError `unknown_channel` */
export function requireChannel(
  application: string,
  { channels }: RevisionJson,
  channel: string,
): void {
  if (!Object.hasOwn(channels, channel)) throw unknownChannel(application, channel, channels);
}
