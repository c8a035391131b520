import type { WriterDeps } from '../../catalog/change.ts';
import { readCatalog } from '../../catalog/find-revision.ts';
import { draftIn } from '../../catalog/list-drafts.ts';
import { readManifest } from '../../catalog/read.ts';
import { parseApplicationName, parseChannelName } from '../../domain/channel.ts';
import { parseVersion } from '../../domain/version.ts';
import { type Admission, admitToChannel } from '../channels/channel-rules.ts';
import { commitRelease } from '../publish/commit-release.ts';
import { planRelease } from '../publish/plan-release.ts';
import { contribution, type PublishResult } from '../publish/publish-release.ts';
import { NO_SIGNATURES } from '../verify/verify-signatures.ts';
import { NO_ED_SIGNATURES } from '../verify/verify-sparkle.ts';
import { createSignatureCheck } from '../verify/verify-stored-signatures.ts';
import type { Holding } from './draft-rules.ts';

interface OpenRequest
  extends Omit<Admission, 'create'>,
    Pick<Holding, 'expect' | 'releasePartial'> {
  readonly version: string;
}

/**
 * Offers a draft, with the files that it has. Its rollout starts now. Opening it again changes nothing.
 *
 * @throws AppError `unknown_application`, `unknown_version` when there is no draft; `release_incomplete` when expected
 *   targets have no build; `invalid_artifact` for a file that clients with the application's key refuse; what
 *   publishing its files throws
 */
export async function openDraft(deps: WriterDeps, request: OpenRequest): Promise<PublishResult> {
  const application = parseApplicationName(request.application);
  const channel = parseChannelName(request.channel);
  const version = parseVersion(request.version);
  const opening = { ...request, application, channel, create: false, mode: 'open' as const };
  const ensureSigned = createSignatureCheck(deps, []);
  const { signed } = await readCatalog(deps, application);
  const state = Object.hasOwn(signed.channels, channel) ? signed.channels[channel] : undefined;
  const draft = state && draftIn(state, request.version);
  if (draft !== undefined) {
    // All checks come before the first write. The commit repeats them on the newest state.
    const admitted = admitToChannel(signed.channels, version, opening);
    const held = await readManifest(deps, application, request.version, draft.manifest);
    planRelease(deps, opening, signed.channels, admitted, held);
    await ensureSigned(held.release, signed.settings ?? {});
  }
  const provenance = { commit: null, buildUrl: null };
  const mine = contribution(
    { ...opening, artifacts: [], provenance },
    { artifacts: [], carried: [] },
    deps,
  );
  const committed = await commitRelease(deps, version, opening, mine, {
    isListed: true,
    ensureInTime: () => undefined,
    // It adds no files.
    ensureVerified: () => undefined,
    ensureSigned,
  });
  const nothing = {
    artifacts: [],
    signatures: NO_SIGNATURES,
    edSignatures: NO_ED_SIGNATURES,
  };
  return { application, version: request.version, channel, ...committed, ...nothing };
}
