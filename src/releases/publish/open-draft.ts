import { readCatalog } from '../../catalog/reading/find-revision.ts';
import { catalogState, type WriterDeps } from '../../catalog/writing/change.ts';
import { parseApplicationName, parseChannelName } from '../../domain/channel.ts';
import { parseVersion } from '../../domain/version.ts';
import { readEarlier } from '../files/read-earlier.ts';
import type { Admission } from '../offer/channel-rules.ts';
import type { Holding } from '../offer/draft-rules.ts';
import { NO_SIGNATURES } from '../verify/verify-signatures.ts';
import { NO_ED_SIGNATURES } from '../verify/verify-sparkle.ts';
import { createSignatureCheck } from '../verify/verify-stored-signatures.ts';
import { commitRelease, planVerified } from './commit-release.ts';
import { type PublishResult, publishOf } from './publish-request.ts';
import { admit } from './read-publish-state.ts';

interface OpenRequest
  extends Omit<Admission, 'create'>,
    Pick<Holding, 'expect' | 'releasePartial'> {
  readonly version: string;
}

/**
 * Offers a draft, with the files that it has. Its rollout starts now. Opening it again changes nothing.
 *
 * @throws AppError `unknown_application`, `unknown_version` when there is no draft; `release_incomplete` when expected
 *   targets have no build; `invalid_artifact` for a file that clients with the application's key refuse; the codes of
 *   `planPublish`
 */
export async function openDraft(deps: WriterDeps, request: OpenRequest): Promise<PublishResult> {
  const application = parseApplicationName(request.application);
  const channel = parseChannelName(request.channel);
  parseVersion(request.version);
  const opening = { ...request, application, channel, create: false, mode: 'open' as const };
  const ensureSigned = createSignatureCheck(deps, []);
  const revision = await readCatalog(deps, application);
  const provenance = { commit: null, buildUrl: null };
  const publish = () =>
    publishOf(deps, { ...opening, artifacts: [], provenance }, { artifacts: [], carried: [] });
  // Reads the stored files, which may have gigabytes, before the commit. The commit verifies them too, and reads no
  // file again.
  const planned = publish();
  const admitted = admit(catalogState(revision), planned);
  await planVerified(deps, admitted, planned, undefined, ensureSigned);
  // Made again, because clients read the date of the offer.
  const committed = await commitRelease(deps, publish(), { isListed: true, ensureSigned });
  return {
    application,
    version: request.version,
    channel,
    ...committed,
    artifacts: [],
    repairs: [],
    findings: [],
    deltaRemarks: [],
    rezipRemarks: [],
    earlier: await readEarlier(deps, {
      application,
      channel,
      version: request.version,
      ...committed,
    }),
    signatures: NO_SIGNATURES,
    edSignatures: NO_ED_SIGNATURES,
  };
}
