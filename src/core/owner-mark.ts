import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemCode } from './errors.ts';

/**
 * A file that tells whether the process that made it still lives.
 *
 * The file is a socket on which the process listens. The system closes the socket when the process ends, however it ends,
 * and a connection is then refused. A process number would not do: the system gives it to another process later. Node has
 * no file locks of its own, and a package with native code would not fit into the programs in one file. Windows has no
 * sockets in directories, so there the process listens on a named pipe, which the system removes with the process.
 */

export interface OwnerMark {
  /** The path of the socket; on Windows of a file that says that there was a pipe. */
  readonly file: string;
  /** The name of the pipe on Windows. No other process may ever use it. */
  readonly pipe: string;
}

const IS_WINDOWS = process.platform === 'win32';
/** macOS has the shortest paths of sockets: 104 bytes with the zero at the end. */
const PATH_BYTES_MAX = 103;

const pipeOf = ({ pipe }: OwnerMark): string => `\\\\.\\pipe\\${pipe}`;

/**
 * Makes the mark, which lives as long as this process.
 *
 * @returns a function that ends the ownership earlier
 * @throws the system's error, for example on a file system without sockets
 */
export async function makeMark(mark: OwnerMark): Promise<() => void> {
  const server = createServer((socket) => socket.destroy());
  const listen = (place: string): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(place, resolve);
    });
  try {
    if (IS_WINDOWS) {
      await listen(pipeOf(mark));
      await writeFile(mark.file, '');
    } else {
      // Before it listens, a socket refuses connections. So it gets its name afterwards.
      const first = `${mark.file}.new`;
      await withShortPath(first, listen);
      await rename(first, mark.file);
    }
    server.on('error', () => {});
    server.unref();
  } catch (error) {
    server.close();
    throw error;
  }
  return () => void server.close();
}

/**
 * True when the process of a mark has ended. False when that is not certain, and for a link or anything else that
 * `makeMark` does not make. Never fails.
 */
export async function isOwnerGone(mark: OwnerMark): Promise<boolean> {
  try {
    const known = await lstat(mark.file);
    if (IS_WINDOWS) return known.isFile() && (await isRefused(pipeOf(mark)));
    return known.isSocket() && (await withShortPath(mark.file, isRefused));
  } catch {
    return false;
  }
}

/** True for what this user made. Windows has no user ids. */
export function isOfThisUser({ uid }: Pick<Stats, 'uid'>): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/** Any other failure, such as a full queue of the socket, does not prove that the process has ended. */
function isRefused(place: string): Promise<boolean> {
  const gone = IS_WINDOWS ? 'ENOENT' : 'ECONNREFUSED';
  return new Promise((resolve) => {
    const socket = connect(place);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error) => resolve(systemCode(error) === gone));
  });
}

/**
 * Reaches a socket whose path is too long, as below "Library/Application Support", by a link to its directory. The link has
 * a new name, so that no other user can have made it. A kill meanwhile leaves the link.
 */
async function withShortPath<T>(file: string, use: (file: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(file) <= PATH_BYTES_MAX) return use(file);
  const link = path.join(tmpdir(), `slipway-${randomBytes(4).toString('hex')}`);
  await symlink(path.dirname(file), link);
  try {
    return await use(path.join(link, path.basename(file)));
  } finally {
    await rm(link, { force: true }).catch(() => {});
  }
}
