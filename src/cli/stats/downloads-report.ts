import { readManifest } from '../../catalog/reading/read.ts';
import { counted } from '../../core/counted.ts';
import { isAppError } from '../../core/errors.ts';
import type { Release } from '../../domain/release.ts';
import type { ListedVersion } from '../../releases/list/list-version.ts';
import type { VersionAdoption } from '../../usage/adoption.ts';
import { type Downloads, NO_DOWNLOADS } from '../../usage/counts.ts';
import { findMostlyWhole, outcomesOf } from '../../usage/download-shares.ts';
import type { Context } from '../context.ts';

/** The part of `slipway stats VERSION` that says how clients downloaded the release. */

/** The files of a release; none when no channel lists the release, or its manifest cannot be read. */
export async function readListedFiles(
  context: Context,
  application: string,
  { listed }: ListedVersion,
): Promise<Pick<Release, 'artifacts'>> {
  const offer = listed[0]?.offer;
  if (offer === undefined) return { artifacts: [] };
  try {
    return (await readManifest(context, application, offer.version, offer.manifest)).release;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { artifacts: [] };
  }
}

export function downloadLines(
  version: string,
  { own, platforms }: Pick<VersionAdoption, 'own' | 'platforms'>,
  files: Pick<Release, 'artifacts'>,
): readonly string[] {
  if (own.downloads === undefined) return [];
  return [
    `Downloads that the service saw: ${downloadsText(own.downloads)}. Downloads through a CDN or an export are not counted.`,
    ...notKnownLines(own.downloads),
    ...findMostlyWhole(files, platforms).map((platform) => {
      const { downloads = NO_DOWNLOADS } = platforms.find(({ name }) => name === platform) ?? {};
      const why =
        platform === 'macos'
          ? 'The first update of an installation on macOS is always whole. If most installations are older, check'
          : 'Check';
      return `Warning: on ${platform}, clients mostly downloaded the whole file of ${version}, although it has a block map or a delta (${downloadsText(downloads)}). ${why} that the release from which they update has one too and is still listed, and that no proxy in front of the service removes the Range header.`;
    }),
  ];
}

function downloadsText(downloads: Downloads): string {
  const { all, differential, whole, fallback, resumed, notKnown } = outcomesOf(downloads);
  if (all === 0 && notKnown > 0) return `not known (${notKnown})`;
  const after = fallback === 0 ? '' : ` (${fallback} after a failed difference)`;
  const more = notKnown === 0 ? '' : `; not known (${notKnown})`;
  return `${counted(all, 'download')}: ${differential} differential, ${whole} whole${after}, ${resumed} resumed${more}`;
}

function notKnownLines({ not_known: notKnown = 0 }: Downloads): readonly string[] {
  if (notKnown === 0) return [];
  return [
    'Not known: several clients may share a network address, and their requests had no installation id. So the service cannot tell how many downloads these were, nor whether they were differential or failed. Let the application send x-installation-id with its downloads.',
  ];
}
