import { type Child, startChild } from './child.ts';
import { readUsage } from './processor-time.ts';

/** The load generator, which is a process of its own. */

/** A request, and what its answer must be. */
export interface Request {
  readonly method: 'GET' | 'POST';
  /** Also here and in the header fields, `{id}` stands for an installation id. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status: number;
  /** Text that the head or the body of the answer contains. */
  readonly contains: string;
}

export interface Server {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
}

/** One kind of traffic: the requests are sent in turn. */
export interface Traffic {
  readonly requests: readonly Request[];
  /** How many different values `{id}` has; 1 by default. */
  readonly ids?: number;
}

export interface Loaded {
  /** Microseconds of processor time of the server for one request. */
  readonly serverMicros: number;
  /** The same of the load generator. */
  readonly loadMicros: number;
  readonly requestsPerSecond: number;
  /** How many requests the server refused, because it was overloaded. */
  readonly refused: number;
}

export interface Paced {
  /** Milliseconds from sending each request to the end of its answer. */
  readonly times: readonly number[];
  /** How many of them the server refused, because it was overloaded. */
  readonly refused: number;
  /** The time by which the load generator itself sent its latest request too late, in milliseconds. */
  readonly lateMs: number;
}

export interface Load {
  /**
   * Sends for `seconds` on 64 connections, each of which sends the next request after the last answer.
   *
   * @throws Error when an answer is not the expected one
   */
  send(server: Server, traffic: Traffic, seconds: number): Promise<Loaded>;
  /** Sends `perSecond` requests a second without waiting for answers. @throws Error like `send` */
  pace(server: Server, traffic: Traffic, perSecond: number, seconds: number): Promise<Paced>;
  stop(): Promise<void>;
}

export const CONNECTIONS = 64;

/** What the process reports about one turn of `send`. */
export interface Sent {
  readonly requests: number;
  readonly refused: number;
  readonly seconds: number;
}

export async function startLoad(connections = CONNECTIONS): Promise<Load> {
  const child: Child = await startChild('load-process.ts');
  const cpuOf = async (pid: number): Promise<number> => (await readUsage(pid)).cpuMs;
  return {
    send: async (server, traffic, seconds) => {
      const before = [await cpuOf(server.pid), await cpuOf(child.pid)] as const;
      const sent = await child.ask<Sent>({ do: 'send', server, traffic, seconds, connections });
      const perRequest = 1000 / sent.requests;
      return {
        serverMicros: ((await cpuOf(server.pid)) - before[0]) * perRequest,
        loadMicros: ((await cpuOf(child.pid)) - before[1]) * perRequest,
        requestsPerSecond: sent.requests / sent.seconds,
        refused: sent.refused,
      };
    },
    pace: (server, traffic, perSecond, seconds) =>
      child.ask({ do: 'pace', server, traffic, perSecond, seconds }),
    stop: () => child.stop(),
  };
}
