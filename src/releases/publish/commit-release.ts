import { type ManifestReference, remembering } from '../../catalog/reading/read.ts';
import {
  type Committed,
  catalogState,
  changeCatalog,
  changeManifest,
  findCommitBase,
  registerApplication,
  type WriterDeps,
} from '../../catalog/writing/change.ts';
import { AppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import { signedOnly } from '../files/read-earlier.ts';
import type { EnsureSigned } from '../verify/verify-stored-signatures.ts';
import {
  type ChannelFacts,
  channelFacts,
  type Publish,
  type PublishPlan,
  planPublish,
} from './plan-publish.ts';
import { type Admitted, admit, type PublishState, readPublishState } from './read-publish-state.ts';
import { refuseRequired } from './refuse-required.ts';

export interface CommittedRelease extends Committed, ChannelFacts {
  readonly manifest: number;
  /** The whole release, with the artifacts that other publishers added. */
  readonly release: Release;
}

interface CommitOptions {
  /** True when the list of applications has the application already. */
  readonly isListed: boolean;
  readonly ensureSigned: EnsureSigned;
}

/**
 * Plans a publish on a state of the catalog, and verifies the stored files that the plan names.
 *
 * @param newest the newest manifest of the version
 * @throws AppError the codes of {@link planPublish} and {@link readPublishState}; `invalid_artifact` and
 *   `artifact_mismatch` for files that clients with the application's key would refuse; the codes of {@link
 *   refuseRequired}
 */
export async function planVerified(
  deps: WriterDeps,
  admitted: Admitted,
  publish: Publish,
  newest: ManifestReference | undefined,
  ensureSigned: EnsureSigned,
): Promise<{ readonly state: PublishState; readonly plan: PublishPlan }> {
  const state = await readPublishState(deps, admitted, publish, newest);
  const plan = planPublish(state, publish);
  await ensureOfferable(deps, publish, { state, plan }, ensureSigned);
  return { state, plan };
}

/**
 * Checks a release before the channel first offers it.
 *
 * @throws AppError as {@link planVerified} does for the files of a release
 */
export async function ensureOfferable(
  deps: WriterDeps,
  publish: Publish,
  { state, plan: { firstOffered } }: { readonly state: PublishState; readonly plan: PublishPlan },
  ensureSigned: EnsureSigned,
): Promise<void> {
  if (firstOffered === undefined) return;
  await ensureSigned(firstOffered, state.settings);
  const { channels, settings } = withOwnChannel(state, publish);
  const compared = { channels: signedOnly(channels, state.offerRight), settings };
  await refuseRequired(deps, publish, firstOffered, compared);
}

/** The state with the channel that the publish creates, because that channel may inherit earlier releases. */
export function withOwnChannel(
  { channels, channel, settings }: Admitted,
  { channel: name }: Pick<Publish, 'channel'>,
): Pick<Admitted, 'channels' | 'settings'> {
  return { channels: { ...channels, [name]: channel }, settings };
}

/** Enough for publishers of every platform that commit at the same moment. */
const ROUNDS_MAX = 50;

/**
 * Makes the last steps of publishing: it stores the manifest, then the catalog revision that offers the release or
 * holds it back. When another publisher was first, {@link planPublish} may want another manifest on the newer state.
 * Then this function repeats both steps.
 *
 * @throws AppError the codes of {@link planPublish}; `store_unavailable` when other publishers were first each time
 */
export async function commitRelease(
  given: WriterDeps,
  publish: Publish,
  { isListed, ensureSigned }: CommitOptions,
): Promise<CommittedRelease> {
  const { application, version } = publish;
  const deps = remembering(given);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    // Reads the revision again after the uploads, because other publishers may have published meanwhile.
    const base = await findCommitBase(deps, application, version);
    const revision = base.revisions.newest?.document;
    const admitted = admit(catalogState(revision), publish);
    const stored = await changeManifest(
      deps,
      application,
      version,
      async (newest) => {
        const { plan } = await planVerified(deps, admitted, publish, newest, ensureSigned);
        return plan.manifest;
      },
      {
        catalogRevision: revision?.signed.revision ?? 0,
        channels: [publish.channel],
        // Only revisions name manifests: without a revision, no document refers to this sequence.
        isUnreferenced: revision === undefined,
        found: revision === undefined ? undefined : base.manifests,
      },
    );
    if (!isListed) await registerApplication(deps, application);
    const {
      plan: { state, plan },
      ...committed
    } = await changeCatalog(
      deps,
      application,
      async (channels, present) => {
        const newer = admit({ channels, ...present }, publish);
        const attempt = await planVerified(deps, newer, publish, stored, ensureSigned);
        const { manifest, edit } = attempt.plan;
        return { edit: manifest.kept && edit, plan: attempt };
      },
      base,
    );
    const { kept } = plan.manifest;
    if (kept === undefined) continue;
    const facts = channelFacts(state, publish, plan);
    return { manifest: kept.number, release: kept.release, ...committed, ...facts };
  }
  throw new AppError(
    'store_unavailable',
    `Other publishers kept adding to ${version}. Run the same command again.`,
  );
}
