import type { Channels } from '../../catalog/documents/revision-document.ts';
import type { SettingsJson } from '../../catalog/documents/settings-document.ts';
import type { ReaderDeps } from '../../catalog/reading/read.ts';
import { AppError } from '../../core/errors.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import type { Requirement } from '../../domain/signing-facts.ts';
import { applicationSettingsOf } from '../applications/application-settings.ts';
import { OLDER_MAX } from '../files/prepare-artifact.ts';
import { type EarlierReleases, readEarlier } from '../files/read-earlier.ts';
import { findDifferences, isConcerned, refuseFindings } from './preflight.ts';

/**
 * Applies the rules of an application to a whole release before a channel first offers it: other publishers may have
 * added files to the draft, and a rule may be newer than the files.
 *
 * @param channels the channels before the release, also a channel that the release creates
 * @throws AppError `invalid_artifact` for a file that a rule refuses; `store_unavailable`, `document_corrupt` when an
 *   earlier release cannot be read
 */
export async function refuseRequired(
  deps: ReaderDeps,
  { application, channel }: { readonly application: string; readonly channel: string },
  release: Release,
  { channels, settings }: { readonly channels: Channels; readonly settings: SettingsJson },
): Promise<void> {
  const { require, sparklePubkey } = applicationSettingsOf(settings);
  const { version, artifacts, requires } = release;
  if (!artifacts.some((each) => isConcerned(each, require))) return;
  const published = { application, channel, version, before: channels };
  const earlier = await readEarlier(deps, published, OLDER_MAX);
  refuseUncompared(application, earlier, require, artifacts);
  const findings = findDifferences({
    version,
    requires,
    files: artifacts,
    earlier: earlier.older,
    sparkleKey: sparklePubkey?.text ?? null,
    seen: [],
  });
  refuseFindings(application, findings, require);
}

/**
 * An earlier release that cannot be read could refuse a file, so a required comparison is incomplete.
 *
 * @throws AppError `store_unavailable`, `document_corrupt`
 */
export function refuseUncompared(
  application: string,
  { unread }: Pick<EarlierReleases, 'unread'>,
  required: readonly Requirement[],
  files: readonly Artifact[],
): void {
  const [error] = unread;
  if (error === undefined || !files.some((each) => isConcerned(each, required))) return;
  const isCorrupt = error.code === 'document_corrupt';
  throw new AppError(
    isCorrupt ? 'document_corrupt' : 'store_unavailable',
    `${error.message} So the files could not be compared with that release, and ${application} requires the comparison ("${required.join(',')}"). Nothing was published. ${isCorrupt ? 'slipway apps set --require none publishes without the comparison' : 'Run the same command again'}.`,
    { cause: error },
  );
}
