import type { Channels, WriterDeps } from '../catalog/change.ts';
import { type ManifestReference, readManifest } from '../catalog/read.ts';
import type { Release } from '../domain/release.ts';
import { AppError, isAppError } from '../errors.ts';
import { offersOf } from './channel-rules.ts';

/** The manifests of a version that clients may have seen. */

interface Named {
  readonly application: string;
  readonly version: string;
}

/**
 * The manifests that channels offer of a version, by number. Leaves out a corrupt manifest when a sound one followed
 * it, because that one has all of its content. Also leaves it out when the operator allows it with `--skip-corrupt`.
 *
 * @param newest the number of the newest sound manifest; 0 for none
 * @throws AppError `document_corrupt`, with the option that allows it
 */
export async function readOffered(
  deps: WriterDeps,
  { application, version }: Named,
  channels: Channels,
  newest: number,
): Promise<readonly ManifestReference[]> {
  const offered = [...offersOf(channels, version).values()].map(({ manifest }) => manifest);
  const references = [...new Map(offered.map((manifest) => [manifest.number, manifest])).values()];
  const found = await Promise.all(
    references.map(async (reference) => {
      try {
        return await readManifest(deps, application, version, reference);
      } catch (error) {
        if (!isAppError(error, 'document_corrupt')) throw error;
        const { number } = reference;
        if (number < newest || deps.skipCorrupt?.includes(number)) return undefined;
        throw new AppError(
          'document_corrupt',
          `${error.message} This manifest lists the files of ${version}. To make it again from the files of this command alone, add --skip-corrupt ${number}. Then publish the other platforms of ${version} again.`,
          { cause: error },
        );
      }
    }),
  );
  return found.filter((reference) => reference !== undefined).sort((a, b) => a.number - b.number);
}

/**
 * The releases whose bytes clients may have: those that were retired, then those offered now. The last one has the
 * statements that clients see.
 */
export async function readFixed(
  deps: WriterDeps,
  named: Named,
  channels: Channels,
  newest: ManifestReference | undefined,
): Promise<readonly Release[]> {
  const offered = await readOffered(deps, named, channels, newest?.number ?? 0);
  return fixedReleases(offered, named, channels, newest);
}

/** See {@link readFixed}. @param offered of {@link readOffered} */
export function fixedReleases(
  offered: readonly ManifestReference[],
  { version }: Pick<Named, 'version'>,
  channels: Channels,
  newest: ManifestReference | undefined,
): readonly Release[] {
  const isRetired = Object.values(channels).some(({ retired }) => retired.includes(version));
  return [
    ...(isRetired && newest ? [newest.release] : []),
    ...offered.map(({ release }) => release),
  ];
}
