import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { endWithBench, type Server, spawnServer, waitFor } from './child-process.ts';
import type { BenchContext } from './context.ts';
import { readUsage } from './resource-usage.ts';

/** The load generator and the baseline, each a process of its own. */

/** A request, and what its answer must be. */
export interface Request {
  readonly method: 'GET' | 'POST';
  /** Here, in the header fields and in the body, `{id}` stands for an installation id. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status: number;
  /** Text that the head or the first 64 KiB of the answer contain. */
  readonly contains: string;
}

/** Requests that are sent in turn. */
export interface Traffic {
  readonly requests: readonly Request[];
  /** The number of different values of `{id}`; 1 by default. */
  readonly ids?: number | undefined;
}

interface Pace {
  readonly seconds: number;
  /** Without it, each connection sends the next request after the last answer. */
  readonly perSecond?: number;
  /** Whether the load generator keeps running while it waits: then no server is charged for waking it up. */
  readonly staysAwake?: boolean;
}

/** What the load generator is told to do. */
export interface Task extends Traffic, Pace {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
}

/** What the load generator reports. */
export interface Sent {
  readonly requests: number;
  /** How many requests the server refused with 503 or 429. */
  readonly refused: number;
  readonly seconds: number;
  /** With a pace: milliseconds from when each request was due to the end of its answer. */
  readonly times: readonly number[];
}

interface Loaded extends Sent {
  /** Microseconds of processor time of the server for one request. */
  readonly serverMicros: number;
  /** The same of the load generator. */
  readonly loadMicros: number;
}

export interface Load {
  /** @throws Error when an answer is not the expected one */
  send(server: Server, traffic: Traffic, pace: Pace): Promise<Loaded>;
  stop(): void;
}

export function startLoad(connections = 64): Load {
  const child = endWithBench(fork(new URL('load-process.ts', import.meta.url)));
  const ended = once(child, 'exit');
  const cpuOf = async (pid = 0): Promise<number> => (await readUsage(pid)).cpuMs;
  return {
    send: async (server, traffic, pace) => {
      const { pid, host, port } = server;
      const before = [await cpuOf(pid), await cpuOf(child.pid)] as const;
      child.send({ ...traffic, ...pace, host, port, connections } satisfies Task);
      const reply = new Promise<Sent>((resolve) => child.once('message', resolve));
      const sent = await Promise.race([reply, ended.then(() => undefined)]);
      if (sent === undefined) throw new Error('The load generator failed.');
      const perRequest = 1000 / sent.requests;
      return {
        ...sent,
        serverMicros: ((await cpuOf(pid)) - before[0]) * perRequest,
        loadMicros: ((await cpuOf(child.pid)) - before[1]) * perRequest,
      };
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

/** Measures the processor time of a server for one request, in microseconds. Warns about refused requests. */
export function cpuTurn(
  load: Load,
  server: Server,
  traffic: Traffic,
  seconds: number,
): () => Promise<number> {
  return async () => {
    const { serverMicros, requests, refused } = await load.send(server, traffic, {
      seconds,
      staysAwake: true,
    });
    if (refused > 0) console.error(`${server.url} refused ${refused} of ${requests} requests.`);
    return serverMicros;
  };
}

/** Bare node:http. */
export async function startBaseline(context: BenchContext): Promise<Server> {
  const module = path.join(import.meta.dirname, 'baseline-process.ts');
  const server = await spawnServer(context, process.execPath, () => [module]);
  await waitFor(server, '/200/1');
  return server;
}
