import {
  namedAbove,
  readApplications,
  readNewestManifest,
  readRevision,
  refuseLost,
  remembering,
} from '../../catalog/reading/read.ts';
import { needsCreate } from '../../catalog/reading/unknown-release.ts';
import { catalogState, refuseWithoutRoot } from '../../catalog/writing/change.ts';
import { openOfferRight } from '../../catalog/writing/offer-right.ts';
import { parseApplicationName, parseChannelName } from '../../domain/channel.ts';
import { refuseReservedName } from '../../domain/reserved-name.ts';
import { parseRangeBelow, parseVersion } from '../../domain/version.ts';
import { applicationSettingsOf } from '../applications/application-settings.ts';
import {
  olderWanted,
  type PreparedArtifact,
  prepareArtifact,
  refuseUnusedKeys,
} from '../files/prepare-artifact.ts';
import { readEarlier, signedOnly } from '../files/read-earlier.ts';
import { withOwnChannel } from './commit-release.ts';
import { chooseDisplayName, type ProductName } from './display-name.ts';
import { publishArtifacts } from './publish-artifacts.ts';
import type { PublishDeps, PublishRequest, PublishResult } from './publish-request.ts';
import { admit } from './read-publish-state.ts';
import { rezipArtifacts } from './rezip/rezip-artifact.ts';

/**
 * Publishes files as a release, or adds them to a release, and offers it on a channel or holds it back. Artifacts come
 * first, then the manifest, then the catalog revision: clients see only the last step.
 *
 * Publishing the same files again changes nothing. The next run completes a run that was killed at any point.
 *
 * @throws AppError `invalid_*` for a wrong request; `needs_create`, `unknown_application`, and the codes of {@link
 *   admit} and `planPublish` for a refusal; `store_*` when the store fails
 */
export async function publishRelease(
  given: PublishDeps,
  request: PublishRequest,
): Promise<PublishResult> {
  const deps = remembering(given);
  const application = parseApplicationName(request.application);
  const channel = parseChannelName(request.channel);
  const version = parseVersion(request.version);
  const { requires, mandatoryFor } = request;
  if (requires !== undefined) parseRangeBelow(requires, version, '/requires');
  if (mandatoryFor !== undefined) parseRangeBelow(mandatoryFor, version, '/mandatory_for');
  const publishing = { ...request, application, channel };

  // All checks come before the upload, which may take gigabytes. The commit plans again on the newest state.
  const readingRevision = ahead(readRevision(deps, application));
  const isListed = await checkApplication(deps, application, request.create);
  const revision = await readingRevision;
  // Not before the store's first answer: only then does the process know the store's time.
  const uploadsBegan = deps.clock.now();
  await refuseWithoutRoot(deps, application, revision);
  const admitted = admit(catalogState(revision), publishing);
  const readingManifest = ahead(readNewestManifest(deps, application, request.version));
  const right = await openOfferRight(deps, application, admitted.next, admitted.trust);
  const compared = {
    application,
    channel,
    version: request.version,
    before: signedOnly(withOwnChannel(admitted, publishing).channels, right),
  };
  const readingEarlier = ahead(readEarlier(deps, compared, olderWanted(request.artifacts)));
  await deps.ensureConforming();
  const keys = applicationSettingsOf(admitted.settings);
  const earlier = await readingEarlier;
  const newest = await readingManifest;
  const lost = namedAbove(revision, application, request.version, newest);
  await refuseLost(deps, application, lost);
  const trusts = request.trusts ?? [];
  refuseUnusedKeys(request.artifacts, trusts);
  const rezipped = request.rezip
    ? await rezipArtifacts(deps, application, request.artifacts, earlier.previous)
    : { artifacts: request.artifacts, remarks: [], remove: async () => {} };
  try {
    const prepared: PreparedArtifact[] = [];
    for (const each of rezipped.artifacts) {
      prepared.push(prepareArtifact(each, await each.readInside(), earlier, keys, trusts));
    }
    const isNew = revision === undefined;
    const displayName = isNew ? await findDisplayName(deps, publishing, prepared) : undefined;
    const published = await publishArtifacts(deps, prepared, {
      request: { ...publishing, displayName },
      uploadsBegan,
      isListed,
      admitted,
      right,
      keys,
      earlier,
      newest,
      lost,
    });
    return { ...published, earlier, rezipRemarks: rezipped.remarks };
  } finally {
    await rezipped.remove();
  }
}

/** The display name with which the publish creates the application. */
async function findDisplayName(
  { readProjectName }: PublishDeps,
  { application, displayName }: PublishRequest,
  prepared: readonly PreparedArtifact[],
): Promise<ProductName | undefined> {
  const inside = prepared.flatMap(({ filename, productName }) =>
    productName === undefined
      ? []
      : [{ text: productName, source: `the product name in ${filename}` }],
  );
  if (displayName !== undefined) return chooseDisplayName(application, [displayName]);
  if (inside.length > 0) return chooseDisplayName(application, inside);
  const name = await readProjectName?.(application);
  return name && chooseDisplayName(application, [name]);
}

/** Lets work begin early. Its error is thrown only where the caller awaits it, after the errors of earlier checks. */
function ahead<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/** @returns whether the list of applications has the application */
async function checkApplication(
  deps: PublishDeps,
  application: string,
  create: boolean,
): Promise<boolean> {
  const applications = await readApplications(deps);
  const isListed = applications.includes(application);
  if (isListed) return true;
  if (create) {
    refuseReservedName(application);
    return false;
  }
  throw needsCreate(application, applications);
}
