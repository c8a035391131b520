import { AppError } from '../../core/errors.ts';
import { didYouMean, known } from '../../core/name-hint.ts';
import { type Channels, channelEntries } from '../documents/revision-document.ts';
import { draftSentence } from './draft-text.ts';
import { channelsDrafting } from './list-drafts.ts';
import { type ReaderDeps, readApplications } from './read.ts';

/** Errors for an application, a channel or a version that does not exist. */

/** @throws AppError `store_unavailable`, `store_denied` */
export async function unknownApplication(deps: ReaderDeps, application: string): Promise<AppError> {
  const applications = await readApplications(deps);
  const first =
    applications.length === 0
      ? ' "slipway publish VERSION FILES --create" makes the first one.'
      : '';
  return new AppError(
    'unknown_application',
    `No application "${application}" in this store. ${known('Applications', applications, application)}${first}`,
  );
}

/** The error for a new application without the option that creates it. */
export function needsCreate(application: string, applications: readonly string[]): AppError {
  return new AppError(
    'needs_create',
    `No application "${application}" in this store. ${known('Applications', applications, application)} Add --create to create it.`,
  );
}

export function unknownChannel(application: string, channel: string, channels: Channels): AppError {
  return new AppError(
    'unknown_channel',
    `No channel "${channel}" in ${application}. ${known('Channels', namesOf(channels), channel)}`,
  );
}

/**
 * The error for a version that is not listed. The message names the channels that hold the version back, list it or
 * listed it.
 *
 * @param only the channel that should list the version; undefined for any channel
 */
export function unknownVersion(
  application: string,
  version: string,
  channels: Channels,
  only?: string,
): AppError {
  const drafting = channelsDrafting(channels, version);
  const [found] = drafting.filter(([name]) => only === undefined || name === only);
  if (found !== undefined) {
    const [name, draft] = found;
    return new AppError('status_forbids', draftSentence(draft, name));
  }
  const who =
    only === undefined
      ? `No channel of ${application} lists`
      : `The channel ${only} of ${application} does not list`;
  return new AppError('unknown_version', `${who} ${version}. ${elsewhere(channels, version)}`);
}

function elsewhere(channels: Channels, version: string): string {
  const entries = channelEntries(channels);
  const listing = entries.filter(([, { offers }]) => offers.some((o) => o.version === version));
  if (listing.length > 0) {
    return `It is listed on ${listing.map(([name]) => name).join(', ')}.`;
  }
  const retired = entries.filter(([, channel]) => channel.retired.includes(version));
  if (retired.length > 0) return `It was retired from ${retired.map(([name]) => name).join(', ')}.`;
  const [found] = channelsDrafting(channels, version);
  if (found !== undefined) {
    const [name, draft] = found;
    return draftSentence(draft, name);
  }
  const versions = entries.flatMap(([, { offers, drafts = [] }]) =>
    [...offers, ...drafts].map((listed) => listed.version),
  );
  return `${didYouMean(version, [...new Set(versions)])}"slipway releases" lists the versions.`;
}

const namesOf = (channels: Channels): readonly string[] =>
  channelEntries(channels).map(([name]) => name);
