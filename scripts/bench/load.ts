import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { endWithBench, type Server, spawnServer, waitFor } from './child-process.ts';
import type { BenchContext } from './context.ts';
import { readUsage } from './resource-usage.ts';

/** The load generator and the baseline. Each runs in its own process. */

/** Long enough for thousands of requests and some garbage collections. */
const SLICE_SECONDS = 0.4;

/** A request, and the expected properties of its answer. */
export interface Request {
  readonly method: 'GET' | 'POST';
  /**
   * The path of the request. In the path, the headers and the body, `{id}` stands for an installation id and `{noCache}`
   * for the value of electron-updater. Both are new with each request.
   */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status: number;
  /** A text that must be in the head or in the first 64 KiB of the answer. */
  readonly contains: string;
}

/** Requests that the load generator sends in turn. */
export interface Traffic {
  readonly requests: readonly Request[];
}

interface Pace {
  readonly seconds: number;
  /**
   * The number of requests a second. When it is missing, each connection sends its next request after the last answer.
   */
  readonly perSecond?: number;
  /** True when the load generator stays active while it waits. Then no server has the cost of waking it up. */
  readonly staysAwake?: boolean;
}

/** The task that the benchmark sends to the load generator. */
export interface Task extends Traffic, Pace {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
}

/** The results that the load generator reports. */
export interface Sent {
  readonly requests: number;
  /** The number of requests that the server refused with 503 or 429. */
  readonly refused: number;
  readonly seconds: number;
  /** With a pace: for each request, the milliseconds from its due time to the end of its answer. */
  readonly times: readonly number[];
}

interface Loaded extends Sent {
  /** The processor time of the server for one request, in microseconds. */
  readonly serverMicros: number;
  /** The processor time of the load generator for one request, in microseconds. */
  readonly loadMicros: number;
}

export interface Load {
  /** @throws Error when an answer differs from the expected answer */
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

/**
 * Measures the processor time of a server for one request, in microseconds, in a short slice of time. Warns about refused
 * requests.
 */
export async function cpuSlice(
  load: Load,
  server: Server,
  requests: readonly Request[],
  seconds = SLICE_SECONDS,
): Promise<number> {
  const sent = await load.send(server, { requests }, { seconds, staysAwake: true });
  if (sent.refused > 0) {
    console.error(`${server.url} refused ${sent.refused} of ${sent.requests} requests.`);
  }
  return sent.serverMicros;
}

/** Starts the baseline: a server with only node:http. */
export async function startBaseline(context: BenchContext): Promise<Server> {
  const module = path.join(import.meta.dirname, 'baseline-process.ts');
  const server = await spawnServer(context, process.execPath, () => [module]);
  await waitFor(server, '/200/1');
  return server;
}
