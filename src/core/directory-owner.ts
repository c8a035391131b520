import { lstat, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemCode } from './errors.ts';

/**
 * Tells whether the process that made a temporary directory still lives.
 *
 * The process listens on a socket in the directory. The system closes the socket when the process ends, however it ends,
 * and a connection is then refused. A process number would not do: the system gives it to another process later. Node has
 * no file locks of its own, and a package with native code would not fit into the publisher in one file. Windows has no
 * sockets in directories, so there the process listens on a named pipe, which the system removes with the process.
 */

/** The socket; on Windows a file that says that there was a pipe. */
const OWNER = 'owner';
const IS_WINDOWS = process.platform === 'win32';
/** Every temporary directory of Slipway begins with it. */
const PREFIX = 'slipway-';

const placeOf = (directory: string, name: string): string =>
  IS_WINDOWS ? `\\\\.\\pipe\\${path.basename(directory)}` : path.join(directory, name);

/**
 * Marks a directory as owned by this process. Never fails: without a socket, for example because its path is too long,
 * no process removes the directory of a killed one.
 *
 * @returns a function that ends the ownership
 */
export async function ownDirectory(directory: string): Promise<() => void> {
  const server = createServer((socket) => socket.destroy());
  // Before it listens, a socket refuses connections. So it gets its name afterwards.
  const first = `${OWNER}.new`;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(placeOf(directory, first), resolve);
    });
    server.on('error', () => {});
    server.unref();
    if (IS_WINDOWS) await writeFile(path.join(directory, OWNER), '');
    else await rename(path.join(directory, first), path.join(directory, OWNER));
  } catch {
    server.close();
  }
  return () => void server.close();
}

/**
 * Removes the temporary directories whose processes have ended. Leaves directories of other users and links alone:
 * another user may plant them in a shared directory. Leaves directories without a socket alone, too. Never fails.
 */
export async function removeLeftDirectories(): Promise<void> {
  const root = tmpdir();
  for (const name of await readdir(root).catch(() => [])) {
    if (!name.startsWith(PREFIX)) continue;
    const directory = path.join(root, name);
    try {
      if (!(await isLeft(directory))) continue;
      await rm(directory, { recursive: true, force: true, maxRetries: 2 });
    } catch {
      // It has no socket, or another process was first.
    }
  }
}

async function isLeft(directory: string): Promise<boolean> {
  const known = await lstat(directory);
  // Windows has no user ids, and gives each user a temporary directory of its own.
  const isOwn = process.getuid === undefined || known.uid === process.getuid();
  if (!known.isDirectory() || !isOwn) return false;
  const owner = await lstat(path.join(directory, OWNER));
  return (IS_WINDOWS ? owner.isFile() : owner.isSocket()) && (await isRefused(directory));
}

/** Any other failure, such as a full queue of the socket, does not prove that the process has ended. */
function isRefused(directory: string): Promise<boolean> {
  const gone = IS_WINDOWS ? 'ENOENT' : 'ECONNREFUSED';
  return new Promise((resolve) => {
    const socket = connect(placeOf(directory, OWNER));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error) => resolve(systemCode(error) === gone));
  });
}
