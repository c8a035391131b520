import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of the benchmark itself, which answers questions: a load generator or a baseline. */
export interface Child {
  readonly pid: number;
  ask<T>(question: Question): Promise<T>;
  stop(): Promise<void>;
}

export interface Question {
  readonly do: string;
  readonly [detail: string]: unknown;
}

type Reply = { readonly value: unknown } | { readonly error: string };

/** Child processes must not keep running when the benchmark ends early. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Ends a process with the benchmark, at the latest. */
export function endWithBench(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** @param module the name of a file of this folder, which calls {@link answerParent} */
export async function startChild(module: string): Promise<Child> {
  const path = new URL(module, import.meta.url);
  const child = fork(path, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  endWithBench(child);
  const ended = once(child, 'exit');
  const nextReply = (): Promise<Reply> =>
    Promise.race([
      once(child, 'message').then(([reply]) => reply as Reply),
      ended.then(() => ({ error: `${module} ended before it answered.` })),
    ]);
  await nextReply();
  return {
    pid: child.pid ?? 0,
    ask: async <T>(question: Question): Promise<T> => {
      const reply = nextReply();
      child.send(question);
      const answer = await reply;
      if ('error' in answer) throw new Error(answer.error);
      return answer.value as T;
    },
    stop: async () => {
      child.kill('SIGKILL');
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
