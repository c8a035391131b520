import { type Child, startChild } from './child.ts';
import { type Load, type Server, startLoad } from './load.ts';

/** Finds how long a server does not answer at all: its event loop is blocked, or it gets no processor. */
export interface Probe {
  /** Asks every two milliseconds for `seconds`. */
  watch(server: Server, seconds: number): Promise<Longest>;
  stop(): Promise<void>;
}

/** The longest answers in milliseconds. */
export interface Longest {
  readonly service: number;
  /** Of an idle server that is asked at the same time: what the machine and its other load add. */
  readonly idle: number;
}

const PER_SECOND = 500;

export async function startProbe(): Promise<Probe> {
  const [load, idleLoad] = [await startLoad(), await startLoad()];
  const idle = await startBaseline();
  await idle.listen({ bytes: 20 });
  const longest = async (by: Load, server: Server, path: string, seconds: number) => {
    const request = { method: 'GET' as const, path, status: 200, contains: '' };
    return Math.max(...(await by.pace(server, { requests: [request] }, PER_SECOND, seconds)).times);
  };
  return {
    watch: async (server, seconds) => {
      const [service, control] = await Promise.all([
        longest(load, server, '/livez', seconds),
        longest(idleLoad, idle.server(), '/', seconds),
      ]);
      return { service, idle: control };
    },
    stop: async () => {
      await Promise.all([load.stop(), idleLoad.stop(), idle.stop()]);
    },
  };
}

/** Bare node:http in a process of its own. */
export interface Baseline {
  /** Answers from now on with this status (200 by default) and this many bytes. */
  listen(answer: { readonly bytes: number; readonly status?: number }): Promise<Server>;
  server(): Server;
  stop(): Promise<void>;
}

export async function startBaseline(): Promise<Baseline> {
  const child: Child = await startChild('baseline-process.ts');
  let port = 0;
  const server = (): Server => ({ pid: child.pid, host: '127.0.0.1', port });
  return {
    listen: async ({ bytes, status = 200 }) => {
      port = await child.ask<number>({ do: 'listen', bytes, status });
      return server();
    },
    server,
    stop: () => child.stop(),
  };
}
