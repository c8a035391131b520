import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** A child process that does the measured work and answers messages. */
export interface Child {
  ask<T>(question: Question): Promise<T>;
  stop(): Promise<void>;
}

export interface Question {
  readonly do: string;
  readonly [detail: string]: unknown;
}

type Reply = { readonly value: unknown } | { readonly error: string };

/** Children must not keep running when the benchmark ends early. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly execArgv?: readonly string[];
  /** A directory other than the project's, so that a `.env` there does not affect the measurement. */
  readonly cwd: string;
}

/** @param module the path of a compiled module that calls {@link answerParent} */
export async function startChild(module: string, options: ChildOptions): Promise<Child> {
  const child = fork(module, [], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    execArgv: [...(options.execArgv ?? [])],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.add(child);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      running.delete(child);
      resolve();
    });
  });
  const nextReply = (): Promise<Reply> =>
    new Promise((resolve, reject) => {
      child.once('message', (reply) => resolve(reply as Reply));
      ended.then(() => reject(new Error(`${module} ended before it answered.`)));
    });
  await nextReply();
  return {
    ask: async <T>(question: Question): Promise<T> => {
      const reply = nextReply();
      child.send(question);
      const answer = await reply;
      if ('error' in answer) throw new Error(answer.error);
      return answer.value as T;
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      child.kill();
      await ended;
    },
  };
}

/** For the child process: answers each question with the handler that `do` names. */
export function answerParent(
  handlers: Readonly<Record<string, (question: Question) => Promise<unknown>>>,
): void {
  const answer = async (question: Question): Promise<Reply> => {
    try {
      const handle = handlers[question.do];
      if (handle === undefined) throw new Error(`There is no handler ${question.do}.`);
      return { value: await handle(question) };
    } catch (error) {
      return { error: (error as Error).stack ?? String(error) };
    }
  };
  process.on('message', (question) => {
    answer(question as Question).then((reply) => process.send?.(reply));
  });
  process.send?.({ value: 'ready' } satisfies Reply);
}

/** Microseconds of processor time that this process has used, including garbage collection and compilation. */
export function readCpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Peak memory of this process in MiB; undefined when the system does not report it. */
export async function readPeakMemoryMib(): Promise<number | undefined> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const match = /^VmHWM:\s+(\d+) kB$/m.exec(status);
  return match === null ? undefined : Number(match[1]) / 1024;
}
