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
  const own = process.platform === 'linux' ? await readProc(pid) : await askPs(pid);
  const children = process.platform === 'linux' ? await childrenOf(pid) : [];
  const usages = [own, ...(await Promise.all(children.map(readUsage)))];
  const sum = (key: keyof Usage): number => usages.reduce((total, usage) => total + usage[key], 0);
  return { cpuMs: sum('cpuMs'), residentMib: sum('residentMib'), readBytes: sum('readBytes') };
}

/** Does not see the children of threads other than the first: Node starts processes from the first. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

async function readProc(pid: number): Promise<Usage> {
  const threads = await readdir(`/proc/${pid}/task`);
  const [status = '', io = '', ...times] = await Promise.all(
    ['status', 'io', ...threads.map((thread) => `task/${thread}/schedstat`)].map((name) =>
      readFile(`/proc/${pid}/${name}`, 'utf8'),
    ),
  );
  return {
    // `stat` has the same in steps of ten milliseconds, which is too coarse for short turns.
    cpuMs: times.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0),
    residentMib: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024,
    readBytes: Number(/^rchar: (\d+)/m.exec(io)?.[1]),
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
