import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from './child.ts';
import type { Paced, Request, Sent, Server, Traffic } from './load.ts';

/**
 * Sends prepared bytes and checks every answer, on raw sockets: an HTTP client would cost more than the server. It
 * understands only answers with a Content-Length.
 */

answerParent({
  send: ({ server, traffic, seconds, connections }) =>
    send(server as Server, preparedOf(traffic as Traffic), Number(seconds), Number(connections)),
  pace: ({ server, traffic, perSecond, seconds }) =>
    pace(server as Server, preparedOf(traffic as Traffic), Number(perSecond), Number(seconds)),
});

interface Prepared {
  readonly bytes: Buffer;
  /** The start of the expected answer. */
  readonly status: string;
  readonly contains: string;
}

const prepared = new Map<string, readonly Prepared[]>();

/** Requests with installation ids are prepared once, because there can be 50,000 of them. */
function preparedOf(traffic: Traffic): readonly Prepared[] {
  const key = JSON.stringify(traffic);
  const known = prepared.get(key);
  if (known !== undefined) return known;
  const { requests, ids = 1 } = traffic;
  const made = Array.from({ length: Math.max(ids, requests.length) }, (_, index) =>
    prepare(requests[index % requests.length] as Request, index % ids),
  );
  prepared.set(key, made);
  return made;
}

function prepare(template: Request, id: number): Prepared {
  const uuid = `3f1d6c1e-8a3b-4f50-9d53-${String(id).padStart(12, '0')}`;
  const request: Request = JSON.parse(JSON.stringify(template).replaceAll('{id}', uuid));
  const body = request.body === undefined ? '' : JSON.stringify(request.body);
  const headers = {
    host: 'updates.example.com',
    ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
    ...request.headers,
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    bytes: Buffer.from(`${request.method} ${request.path} HTTP/1.1\r\n${head.join('')}\r\n${body}`),
    status: `HTTP/1.1 ${request.status} `,
    contains: request.contains,
  };
}

interface Connection {
  /** @param done is called when the answer is complete and right */
  send(request: Prepared, done: () => void): void;
  close(): void;
}

/** Larger bodies are counted and not searched for the expected text. */
const SEARCHED_BYTES_MAX = 1024 * 1024;

/**
 * One request at a time.
 *
 * @param refused is called for an answer that the server is overloaded
 */
function openConnection(
  server: Server,
  fail: (error: Error) => void,
  refused: () => void,
): Connection {
  const socket: Socket = connect({ host: server.host, port: server.port, noDelay: true });
  let request: Prepared | undefined;
  let done: () => void = () => {};
  let parts: Buffer[] = [];
  let received = 0;
  let expected = Number.POSITIVE_INFINITY;
  let isRefused = false;
  const finish = (current: Prepared): void => {
    const answer = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    if (isRefused) refused();
    else if (received < SEARCHED_BYTES_MAX && !answer?.includes(current.contains)) {
      fail(new Error(`Expected ${current.contains} in:\n${answer}`));
      return;
    }
    request = undefined;
    parts = [];
    received = 0;
    expected = Number.POSITIVE_INFINITY;
    done();
  };
  socket.on('data', (chunk) => {
    if (request === undefined) return fail(new Error('The server sent more than its answer.'));
    if (received < SEARCHED_BYTES_MAX) parts.push(chunk);
    if (expected === Number.POSITIVE_INFINITY) {
      const start = parts.length === 1 ? chunk : Buffer.concat(parts);
      const end = start.indexOf('\r\n\r\n');
      if (end >= 0) {
        const head = start.toString('latin1', 0, end);
        isRefused = head.startsWith('HTTP/1.1 503 ');
        if (!isRefused && !head.startsWith(request.status)) {
          return fail(new Error(`Expected ${request.status}:\n${start}`));
        }
        expected = end + 4 + bodyBytesOf(head);
      }
    }
    received += chunk.length;
    if (received === expected) finish(request);
    else if (received > expected) fail(new Error('The server sent more than its answer.'));
  });
  socket.on('error', fail);
  socket.on('close', () => {
    if (request !== undefined) fail(new Error('The server closed a connection before its answer.'));
  });
  return {
    send: (next, whenDone) => {
      request = next;
      done = whenDone;
      socket.write(next.bytes);
    },
    close: () => socket.destroy(),
  };
}

function bodyBytesOf(head: string): number {
  if (/^HTTP\/1\.1 (204|304) /.test(head)) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`The answer has no Content-Length:\n${head}`);
  return Number(length);
}

async function send(
  server: Server,
  requests: readonly Prepared[],
  seconds: number,
  connections: number,
): Promise<Sent> {
  const started = performance.now();
  const until = started + seconds * 1000;
  const opened: Connection[] = [];
  let [sent, refused] = [0, 0];
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const connection = openConnection(server, reject, () => refused++);
      opened.push(connection);
      const next = (): void => {
        if (performance.now() >= until) {
          resolve();
          return;
        }
        connection.send(requests[sent++ % requests.length] as Prepared, next);
      };
      next();
    });
  try {
    await Promise.all(Array.from({ length: connections }, run));
    return { requests: sent, refused, seconds: (performance.now() - started) / 1000 };
  } finally {
    for (const connection of opened) connection.close();
  }
}

const PACED_CONNECTIONS = 64;

/** Each request waits for a connection when all are busy: its time begins when it is due, not when it is sent. */
async function pace(
  server: Server,
  requests: readonly Prepared[],
  perSecond: number,
  seconds: number,
): Promise<Paced> {
  const count = Math.ceil(perSecond * seconds);
  const times: number[] = [];
  const waiting: { readonly request: Prepared; readonly since: number }[] = [];
  let fail: (error: Error) => void = () => {};
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve, reject) => {
    [finish, fail] = [resolve, reject];
  });
  let refused = 0;
  const opened: Connection[] = [];
  const idle: Connection[] = [];
  // Not all at once: servers close connections that send nothing.
  const take = (): Connection | undefined => {
    const connection = idle.pop();
    if (connection !== undefined || opened.length === PACED_CONNECTIONS) return connection;
    opened.push(openConnection(server, fail, () => refused++));
    return opened.at(-1);
  };
  const sendWaiting = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const connection = take();
      if (connection === undefined) return;
      const { request, since } = next;
      waiting.shift();
      connection.send(request, () => {
        idle.push(connection);
        if (times.push(performance.now() - since) === count) finish();
        else sendWaiting();
      });
    }
  };
  const started = performance.now();
  let lateMs = 0;
  const sendAll = async (): Promise<void> => {
    for (let sent = 0; sent < count; ) {
      const late = performance.now() - started - (sent * 1000) / perSecond;
      if (late < 0) {
        await sleep(1);
        continue;
      }
      lateMs = Math.max(lateMs, late);
      const request = requests[sent++ % requests.length] as Prepared;
      waiting.push({ request, since: performance.now() });
      sendWaiting();
    }
    await finished;
  };
  try {
    await Promise.race([sendAll(), finished]);
    return { times, refused, lateMs };
  } finally {
    for (const connection of opened) connection.close();
  }
}
