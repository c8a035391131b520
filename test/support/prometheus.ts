import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './process.ts';

/** A Prometheus that runs in its own process. */
export interface Prometheus {
  /** The result of an expression at this moment. @throws when Prometheus refuses the expression */
  query(expr: string): Promise<readonly Sample[]>;
  /** The data of an address of its API, such as `rules`. */
  read(address: string): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const START_MAX_MS = 30_000;

/** @param directory for its data */
export async function startPrometheus(configFile: string, directory: string): Promise<Prometheus> {
  const address = `127.0.0.1:${await freePort()}`;
  const errors: string[] = [];
  const child: ChildProcess = spawn(
    'prometheus',
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${directory}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  child.stderr?.on('data', (chunk) => errors.push(String(chunk)));
  const ended = once(child, 'close');
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  const until = Date.now() + START_MAX_MS;
  while (!(await isReady())) {
    if (child.exitCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`Prometheus does not start: ${errors.join('')}`);
    }
    await sleep(50);
  }

  const read = async (path: string, form?: URLSearchParams): Promise<unknown> => {
    const init = form === undefined ? {} : { method: 'POST', body: form };
    const answer = (await (await fetch(`http://${address}/api/v1/${path}`, init)).json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data: unknown;
    };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  return {
    read: (path) => read(path),
    query: async (expr) => {
      const { result } = (await read('query', new URLSearchParams({ query: expr }))) as {
        readonly result: readonly {
          readonly metric: Readonly<Record<string, string>>;
          readonly value: readonly [number, string];
        }[];
      };
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
