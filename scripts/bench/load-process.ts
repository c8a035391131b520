import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Sent, Task, Traffic } from './load.ts';

/**
 * Sends prepared bytes and checks every answer. It uses raw sockets, because an HTTP client would cost more than the
 * server. It understands only answers with a Content-Length. A wrong answer ends this process with an error.
 */

const SEARCHED_CHARACTERS = 64 * 1024;
const INSTALLATIONS = 1_000_000;
const FIRST_MOMENT = Date.now();

process.on('message', async (task: Task) => {
  process.send?.(await run(task));
});

interface Prepared {
  /** The bytes of the next request. */
  next(): Buffer | string;
  /** The start of the expected answer. */
  readonly status: string;
  readonly contains: string;
}

const prepared = new Map<string, readonly Prepared[]>();

/** Prepares the requests only once, because there can be thousands of them. */
function preparedOf({ requests }: Traffic): readonly Prepared[] {
  const key = JSON.stringify(requests);
  const made = prepared.get(key) ?? requests.map(prepare);
  prepared.set(key, made);
  return made;
}

function prepare({ method, path, headers, body, status, contains }: Request): Prepared {
  const text = body === undefined ? '' : JSON.stringify(body);
  const length = fill(text).length;
  const all = {
    host: 'updates.example.com',
    ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': length }),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${text}`;
  const bytes = Buffer.from(request);
  const isFixed = fill(request) === request;
  const next = () => (isFixed ? bytes : fill(request));
  return { next, status: `HTTP/1.1 ${status} `, contains };
}

let filled = 0;

/** Each request is from another installation, and at another moment: electron-updater makes `noCache` of the time. */
function fill(text: string): string {
  filled++;
  return text
    .replace('{id}', `3f1d6c1e-8a3b-4f50-9d53-${String(filled % INSTALLATIONS).padStart(12, '0')}`)
    .replace('{noCache}', (FIRST_MOMENT + filled).toString(32));
}

interface Connection {
  isOpen(): boolean;
  /**
   * Sends one request after another. The promise resolves when the answer is complete: to true when the server accepted
   * the request.
   */
  ask(request: Prepared): Promise<boolean>;
}

/** Idle connections by port. A turn reuses the connections of the turn before it. */
const idle = new Map<number, Connection[]>();

function open({ host, port }: Task): Connection {
  const socket = connect({ host, port, noDelay: true });
  let current: { readonly request: Prepared; resolve(isAccepted: boolean): void } | undefined;
  let [received, expected, start] = [0, Number.POSITIVE_INFINITY, ''];
  socket.on('data', (chunk) => {
    received += chunk.length;
    if (start.length < SEARCHED_CHARACTERS) start += chunk.toString('latin1');
    const head = start.indexOf('\r\n\r\n');
    if (head >= 0) expected = head + 4 + bodyBytesOf(start.slice(0, head));
    if (received < expected) return;
    if (current === undefined || received > expected) throw new Error(`Too much:\n${start}`);
    const { request, resolve } = current;
    const isAccepted = !/^HTTP\/1\.1 (429|503) /.test(start);
    if (isAccepted && !(start.startsWith(request.status) && start.includes(request.contains))) {
      throw new Error(`Expected ${request.status} with ${request.contains}:\n${start}`);
    }
    current = undefined;
    [received, expected, start] = [0, Number.POSITIVE_INFINITY, ''];
    resolve(isAccepted);
  });
  socket.on('close', () => {
    if (current !== undefined) throw new Error('The server closed a connection before its answer.');
  });
  return {
    ask: (request) =>
      new Promise((resolve) => {
        current = { request, resolve };
        socket.write(request.next());
      }),
    isOpen: () => !socket.destroyed && !socket.readableEnded,
  };
}

function bodyBytesOf(head: string): number {
  if (/^HTTP\/1\.1 (204|304) /.test(head)) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`The answer has no Content-Length:\n${head}`);
  return Number(length);
}

/** @returns a function that lets the process sleep again */
function stayAwake(): () => void {
  let timer: NodeJS.Immediate;
  const stay = (): void => {
    timer = setImmediate(stay);
  };
  stay();
  return () => clearImmediate(timer);
}

/** With a pace, a request waits when all connections are busy. Its measured time begins when it is due. */
async function run(task: Task): Promise<Sent> {
  const { seconds, perSecond, connections } = task;
  const requests = preparedOf(task);
  const started = performance.now();
  const times: number[] = [];
  const used: Connection[] = [];
  const fallAsleep = task.staysAwake ? stayAwake() : undefined;
  const pool = (idle.get(task.port) ?? []).filter((connection) => connection.isOpen());
  let [sent, refused] = [0, 0];
  const runConnection = async (): Promise<void> => {
    const connection = pool.pop() ?? open(task);
    for (;;) {
      const now = performance.now();
      let since = perSecond === undefined ? now : started + (sent * 1000) / perSecond;
      if (since - started >= seconds * 1000) break;
      const request = requests[sent++ % requests.length] as Prepared;
      if (since > now) {
        await sleep(since - now);
        since = performance.now();
      }
      if (!(await connection.ask(request))) refused++;
      if (perSecond !== undefined) times.push(performance.now() - since);
    }
    used.push(connection);
  };
  await Promise.all(Array.from({ length: connections }, runConnection));
  fallAsleep?.();
  idle.set(task.port, used);
  return { requests: sent, refused, seconds: (performance.now() - started) / 1000, times };
}
