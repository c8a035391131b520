import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A proxy as a process of its own. */
export interface ProxyProcess {
  /** What it wrote to standard output and error. */
  readonly output: () => string;
  stop(): Promise<void>;
}

const START_MAX_MS = 60_000;

/** Resolves when the proxy accepts connections. @throws with its output when it does not */
export async function startProxyProcess(
  program: string,
  args: readonly string[],
  { port, env = {} }: { readonly port: number; readonly env?: Readonly<Record<string, string>> },
): Promise<ProxyProcess> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => chunks.push(String(chunk)));
  }
  const output = () => chunks.join('');
  const stop = () => stopProcess(child);
  const until = Date.now() + START_MAX_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`${program} does not listen on port ${port}:\n${output()}`);
    }
    await sleep(50);
  }
  return { output, stop };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await once(child, 'exit');
  clearTimeout(late);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
