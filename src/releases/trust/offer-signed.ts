import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import { optionOf } from '../../catalog/reading/draft-text.ts';
import { statementDigest } from '../../catalog/trust/channel-role.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import { AppError } from '../../core/errors.ts';
import { openDraft } from '../publish/open-draft.ts';
import type { PublishResult } from '../publish/publish-request.ts';
import type { SignedRelease, WaitingRelease } from './sign-draft.ts';

/**
 * Offers a draft that enough people have seen and signed. It signs nothing else with the keys of this process.
 *
 * @throws AppError `state_changed` when the signatures do not count for the present state; the codes of {@link openDraft}
 */
export async function offerSigned(
  deps: WriterDeps,
  waiting: WaitingRelease,
  role: NonNullable<SignedRelease['role']>,
): Promise<PublishResult> {
  const { application, channel, draft } = waiting;
  const result = await openDraft(
    { ...deps, signedRoles: { [channel]: role }, signsNoRole: true },
    {
      application,
      channel,
      version: draft.version,
      allowStranded: true,
      allowPrerelease: true,
    },
  );
  if (result.held === null) return result;
  throw new AppError('state_changed', whyVoid(waiting, result.held.draft));
}

/** Says whether the draft was replaced after people had seen it, because an attacker may have replaced it. */
function whyVoid({ channel, draft }: WaitingRelease, present: DraftJson): string {
  const { version } = draft;
  const again = `"slipway sign ${version}${optionOf(channel)}"`;
  if (statementDigest(present) === statementDigest(draft)) {
    return `Another release or setting of ${channel} was signed at the same time, so the signatures of ${version} are for an older state. Nothing is lost: run ${again} again; the others have to sign again, too.`;
  }
  const digestOf = (each: DraftJson): string => each.manifest.digest.slice(0, 12);
  return `The draft of ${version} on ${channel} was replaced meanwhile: you signed the manifest ${digestOf(draft)}, and the draft has the manifest ${digestOf(present)} now. Nothing was offered. Look at the new draft, and sign it if it is right: ${again}; the others have to sign again, too.`;
}
