import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What a process and its children use, read from outside: from `/proc` on Linux, by `ps` elsewhere. */
export interface Usage {
  /** Milliseconds of user and system time of all running threads. */
  readonly cpuMs: number;
  readonly residentMib: number;
  /** Everything that it read from files and sockets since its start; not a number without `/proc`. */
  readonly readBytes: number;
}

/** @throws Error when the process has ended */
export async function readUsage(pid: number): Promise<Usage> {
  if (process.platform !== 'linux') return askPs(pid);
  const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8');
  const threads = await readdir(`/proc/${pid}/task`);
  // `stat` has the same in steps of ten milliseconds, which is too coarse for short turns.
  const times = await Promise.all(threads.map((thread) => read(`task/${thread}/schedstat`)));
  const own = {
    cpuMs: times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0),
    residentMib: Number(/^VmRSS:\s+(\d+)/m.exec(await read('status'))?.[1]) / 1024,
    readBytes: Number(/^rchar: (\d+)/m.exec(await read('io'))?.[1]),
  };
  // Node starts processes from its first thread.
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

/** Without the children. */
async function askPs(pid: number): Promise<Usage> {
  const run = promisify(execFile);
  const { stdout } = await run('ps', ['-o', 'time=,rss=', '-p', String(pid)]);
  const [time = '', resident] = stdout.trim().split(/\s+/);
  const seconds = time.split(/[-:]/).reduce((total, part) => total * 60 + Number(part), 0);
  return { cpuMs: seconds * 1000, residentMib: Number(resident) / 1024, readBytes: Number.NaN };
}
