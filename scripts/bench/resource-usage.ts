import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * The resources that a process and its children use. On Linux, this file reads them from `/proc`; on other systems,
 * `ps` reports them.
 */
export interface Usage {
  /** Milliseconds of user and system time of all running threads. */
  readonly cpuMs: number;
  readonly residentMib: number;
  /** All bytes that the process has read from files and sockets since its start; not a number without `/proc`. */
  readonly readBytes: number;
}

/** @throws Error when the process has ended */
export async function readUsage(pid: number): Promise<Usage> {
  if (process.platform !== 'linux') return askPs(pid);
  const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8');
  const threads = await readdir(`/proc/${pid}/task`);
  // The file `stat` has the same time in steps of ten milliseconds, but such steps are too long for short turns.
  const times = await Promise.all(threads.map((thread) => read(`task/${thread}/schedstat`)));
  const own = {
    cpuMs: times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0),
    residentMib: Number(/^VmRSS:\s+(\d+)/m.exec(await read('status'))?.[1]) / 1024,
    readBytes: Number(/^rchar: (\d+)/m.exec(await read('io'))?.[1]),
  };
  // Node starts child processes from its first thread, so only this thread has children.
  const children = (await read(`task/${pid}/children`)).split(' ').filter(Boolean).map(Number);
  return (await Promise.all(children.map(readUsage))).reduce(add, own);
}

function add(one: Usage, other: Usage): Usage {
  return {
    cpuMs: one.cpuMs + other.cpuMs,
    residentMib: one.residentMib + other.residentMib,
    readBytes: one.readBytes + other.readBytes,
  };
}

/** The result does not include the children. */
async function askPs(pid: number): Promise<Usage> {
  const run = promisify(execFile);
  const { stdout } = await run('ps', ['-o', 'time=,rss=', '-p', String(pid)]);
  const [time = '', resident] = stdout.trim().split(/\s+/);
  const seconds = time.split(/[-:]/).reduce((total, part) => total * 60 + Number(part), 0);
  return { cpuMs: seconds * 1000, residentMib: Number(resident) / 1024, readBytes: Number.NaN };
}
