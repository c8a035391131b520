import { EventEmitter } from 'node:events';
import http from 'node:http';
import https from 'node:https';

/** What replaces Electron for the real electron-updater: its network is Node's, and counts the bytes it receives. */

export interface ClientRequest {
  readonly url: string;
  readonly status: number;
  readonly hasToken: boolean;
  /** The Range header; undefined for none. */
  readonly range: string | undefined;
  /** What the client received on the connection of this request, with headers. The connection serves no other. */
  readonly bytes: number;
}

/** Electron's `session`: it identifies the client that a request belongs to. */
export interface NetworkSession {
  readonly requests: ClientRequest[];
  /** Requests whose connections may be open. */
  readonly open: Set<http.ClientRequest>;
  /** PEM of a certificate authority that the machine trusts beside its usual ones. */
  readonly authority: string | undefined;
}

interface RequestOptions {
  readonly session: NetworkSession;
  readonly protocol?: string;
  readonly hostname?: string;
  readonly port?: string | number;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  /** `manual`: the request ends at a redirect, unless its listener calls `followRedirect`. Default `follow`. */
  readonly redirect?: 'follow' | 'manual' | 'error';
}

/** Electron's `net.request`. Each request has its own connection, so that its bytes can be counted. */
export function sendRequest(options: RequestOptions): EventEmitter {
  const { session, redirect = 'follow', method = 'GET' } = options;
  const { protocol = 'http:', hostname = '', port = '', path = '/' } = options;
  const facade = new EventEmitter();
  // Electron sends all headers on to the address of a redirect, an access token too.
  const headers: http.OutgoingHttpHeaders = { ...options.headers };
  let current: http.ClientRequest | undefined;
  let isAborted = false;
  const open = (url: URL, body?: Buffer): void => {
    const { authority } = session;
    const request =
      url.protocol === 'https:'
        ? https.request(url, {
            method,
            headers,
            agent: false,
            ...(authority === undefined ? {} : { ca: authority }),
          })
        : http.request(url, { method, headers, agent: false });
    current = request;
    session.open.add(request);
    request.on('close', () => session.open.delete(request));
    request.on('error', (error) => facade.emit('error', error));
    request.on('response', (response) => {
      session.requests.push(recordOf(url, request, response));
      const { location } = response.headers;
      const status = response.statusCode ?? 0;
      if (location === undefined || status < 300 || status > 399) {
        return void facade.emit('response', response);
      }
      response.resume();
      const target = new URL(location, url);
      let isFollowed = redirect === 'follow';
      Object.assign(facade, {
        followRedirect: () => {
          isFollowed = true;
        },
      });
      facade.emit('redirect', status, method, target.href, response.headers);
      if (isFollowed && !isAborted) open(target);
    });
    request.end(body);
  };
  return Object.assign(facade, {
    end: (body?: Buffer) => open(new URL(`${protocol}//${hostname}:${port}${path}`), body),
    abort: () => {
      isAborted = true;
      current?.destroy();
    },
    setHeader: (name: string, value: string) => {
      headers[name] = value;
    },
  });
}

/** The updater leaves the answer unread that it falls back from; a service would wait for its end. */
export function closeConnections({ open }: NetworkSession): void {
  for (const request of open) request.destroy();
}

function recordOf(
  url: URL,
  request: http.ClientRequest,
  response: http.IncomingMessage,
): ClientRequest {
  const { socket } = response;
  return {
    url: url.href,
    status: response.statusCode ?? 0,
    hasToken: request.hasHeader('authorization'),
    range: request.getHeader('range')?.toString(),
    // Read later: the body may not have arrived yet.
    get bytes() {
      return socket.bytesRead;
    },
  };
}

/** Electron's `autoUpdater` on macOS: downloads from the address that MacUpdater sets. */
export class Squirrel extends EventEmitter {
  /** The file, once `checkForUpdates` has downloaded it. */
  received: Promise<Buffer> = Promise.resolve(Buffer.alloc(0));
  #feed: { url: string; headers: Record<string, string> } | undefined;

  setFeedURL(feed: { url: string; headers: Record<string, string> }): void {
    this.#feed = feed;
  }

  checkForUpdates(): void {
    this.received = this.#download();
  }

  async #download(): Promise<Buffer> {
    const { url = '', headers = {} } = this.#feed ?? {};
    const { url: file } = (await (await fetch(url, { headers })).json()) as { url: string };
    const received = Buffer.from(await (await fetch(file)).arrayBuffer());
    this.emit('update-downloaded');
    return received;
  }
}
