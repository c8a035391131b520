import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeMark } from '../core/owner-mark.ts';

/**
 * Several processes of an application may share the directory of the downloads, and may be killed at any moment. So each
 * download has an id, and a mark beside its folder. The mark is valid while the process runs. Until then, other processes
 * keep the folder, and do not continue the partial file with this id.
 */

export interface DownloadOwner {
  /** The name of its partial file. No other process opens it. */
  readonly partial: string;
  release(): Promise<void>;
}

/** Folder, id and suffix: `.new` for an unfinished mark, `.day` for a mark without a socket. */
export const MARK = /^([0-9a-f]{16})\.([0-9a-f]{12})(\.new|\.day)?$/;
/** The suffix of a mark without a socket. Other processes respect such a mark for a day. */
export const DAY = '.day';

/** @param folder the name of a folder in the directory of the downloads */
export async function ownDownload(directory: string, folder: string): Promise<DownloadOwner> {
  const id = randomBytes(6).toString('hex');
  let file = path.join(directory, `${folder}.${id}`);
  let close = (): void => {};
  try {
    close = await makeMark({ file, pipe: pipeOf(file) });
  } catch {
    // The file system has no sockets, for example.
    file += DAY;
    await writeFile(file, '', { flag: 'wx' });
  }
  const release = async (): Promise<void> => {
    close();
    await rm(file, { force: true }).catch(() => {});
  };
  return { partial: partialOf(id), release };
}

export const pipeOf = (mark: string): string => `slipway-${path.basename(mark)}`;
export const partialOf = (id: string): string => `${id}.tmp`;

/** By directory: an application may create an updater for each check. */
const kept = new Map<string, DownloadOwner>();

/** Keeps the file that the application got last until it gets another one, or until the process ends. */
export async function keepUntilNext(directory: string, owner: DownloadOwner): Promise<void> {
  const earlier = kept.get(directory);
  kept.set(directory, owner);
  await earlier?.release();
}
