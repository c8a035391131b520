import type { Companion } from '../domain/companion.ts';
import type { Artifact } from '../domain/release.ts';
import { AppError } from '../errors.ts';
import { openChannel, type ServiceDeps } from './check-for-update.ts';
import { offerByVersion } from './find-download.ts';

export interface FoundFile {
  /** The channel's own name, whatever it was called in the question. */
  readonly channel: string;
  /** Whether the channel is for some accounts only. */
  readonly isRestricted: boolean;
  /** The artifact itself, or the one that the companion belongs to. */
  readonly artifact: Artifact;
  readonly file: Artifact | Companion;
}

/**
 * A file of a listed release by its name: what the stable addresses inside feeds lead to.
 *
 * @param tier of the account that asks; null: the client is not signed in
 * @throws AppError `unknown_file`, `unknown_version`, `release_withdrawn`, `not_entitled`, and those of
 *   `checkForUpdate`
 */
export async function findFile(
  deps: ServiceDeps,
  query: {
    readonly application: string;
    readonly channel: string;
    readonly version: string;
    readonly filename: string;
  },
  tier: string | null,
): Promise<FoundFile> {
  const application = deps.catalog.application(query.application);
  const { channel, isRestricted } = openChannel(deps, application, query.channel, tier);
  const offer = await offerByVersion(deps, application, { ...query, tier });
  const release = await application.release(offer);
  for (const artifact of release?.artifacts ?? []) {
    const files = [artifact, ...artifact.companions];
    const file = files.find(({ filename }) => filename === query.filename);
    if (file !== undefined) return { channel: channel.name, isRestricted, artifact, file };
  }
  throw new AppError(
    'unknown_file',
    `Release ${query.version} has no file ${JSON.stringify(query.filename.slice(0, 80))}.`,
  );
}
