import type { Artifact, Companion } from '../domain/release.ts';
import { AppError } from '../errors.ts';
import type { ServiceDeps } from './check-for-update.ts';
import { offerByVersion } from './find-download.ts';

/**
 * A file of a listed release by its name: what the stable addresses inside feeds lead to.
 *
 * @throws AppError `unknown_file`, `unknown_version`, `release_withdrawn`, and those of `checkForUpdate`
 */
export async function findFile(
  deps: ServiceDeps,
  query: {
    readonly application: string;
    readonly channel: string;
    readonly version: string;
    readonly filename: string;
  },
): Promise<Artifact | Companion> {
  const application = deps.catalog.application(query.application);
  const offer = await offerByVersion(deps, application, query.channel, query.version);
  const release = await application.release(offer);
  const files = release?.artifacts.flatMap((artifact) => [artifact, ...artifact.companions]) ?? [];
  const file = files.find(({ filename }) => filename === query.filename);
  if (file !== undefined) return file;
  throw new AppError(
    'unknown_file',
    `Release ${query.version} has no file ${JSON.stringify(query.filename.slice(0, 80))}.`,
  );
}
