import { openFile } from '../../answers/files/open-file.ts';
import { readZsyncAddress } from '../../builds/archive/update-information.ts';
import type { Artifact } from '../../domain/release.ts';
import { isKey } from '../../store/key.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { OpenChannel } from './open-feeds.ts';
import { pathBelow } from './unanswered.ts';

/**
 * The export reads at most this number of offered releases, and of installed releases, of each channel, the newest
 * first. Older AppImages contain the same address, because developers never change it.
 */
const RELEASES_MAX = 50;

/**
 * Finds the paths of the addresses of this service that AppImages contain. Each installed AppImage always asks the
 * address that it contains, and its developer chose the name in the address.
 */
export async function findStatedAddresses(
  store: Pick<ObjectStore, 'open'>,
  application: string,
  channels: readonly OpenChannel[],
  publicUrl: string,
): Promise<readonly string[]> {
  const files = new Map<string, Artifact>();
  for (const { offered, installed } of channels) {
    for (const { release } of [
      ...offered.slice(0, RELEASES_MAX),
      ...installed.slice(0, RELEASES_MAX),
    ]) {
      for (const artifact of release.artifacts) {
        if (artifact.format === 'appimage') files.set(artifact.object, artifact);
      }
    }
  }
  const paths = new Set<string>();
  for (const file of files.values()) {
    const path = pathBelow((await addressIn(store, application, file)) ?? '', publicUrl);
    if (path === undefined || !path.startsWith('feeds/') || !isKey(path)) continue;
    paths.add(path);
    // The address of the AppImage itself, beside the address of its list of blocks.
    paths.add(path.replace(/\.zsync$/, ''));
  }
  return [...paths];
}

async function addressIn(
  store: Pick<ObjectStore, 'open'>,
  application: string,
  file: Artifact,
): Promise<string | undefined> {
  const reader = await openFile(store, application, file);
  try {
    return await readZsyncAddress(async (start, length) => {
      if (start + length > file.size) return undefined;
      const bytes = Buffer.alloc(length);
      if (length > 0) await reader.read(bytes, start);
      return bytes;
    });
  } finally {
    await reader.close();
  }
}
