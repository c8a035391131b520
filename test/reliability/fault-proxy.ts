import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A proxy between a process and its S3 store. Forwards requests, and breaks those that the plan selects. */
export interface FaultProxy {
  readonly endpoint: string;
  setPlan(plan: ProxyPlan | undefined): void;
  /** Requests since the last `forgetRequests`. */
  requests(): number;
  forgetRequests(): void;
  close(): Promise<void>;
}

interface ProxiedRequest {
  /** Counts from 1 since the plan was set. */
  readonly number: number;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type ProxyFault =
  /** Sends this answer; the store does not get the request. */
  | { readonly instead: Answer }
  /** Changes the store's answer. */
  | { readonly change: (answer: Answer) => Answer }
  | { readonly status: 503 | 429 }
  /**
   * Cuts the connection: before the store gets the request, during its body, or after the store has
   * answered, so that only the answer is lost. Runs `meanwhile` at that moment.
   */
  | { readonly cut: 'before' | 'during' | 'after'; readonly meanwhile?: () => void };

type ProxyPlan = (request: ProxiedRequest) => ProxyFault | undefined;

const S3_CODES = { 503: 'SlowDown', 429: 'TooManyRequests' } as const;

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  let plan: ProxyPlan | undefined;
  let planned = 0;
  let requests = 0;
  const server = createServer((incoming, outgoing) => {
    requests += 1;
    planned += 1;
    const fault = plan?.({
      number: planned,
      method: incoming.method ?? '',
      url: incoming.url ?? '',
    });
    if (fault === undefined) forward(incoming, outgoing, undefined);
    else if ('status' in fault) refuse(incoming, outgoing, fault.status);
    else if ('instead' in fault) incoming.resume().once('end', () => send(outgoing, fault.instead));
    else if ('change' in fault) forward(incoming, outgoing, undefined, fault.change);
    else if (fault.cut === 'before') cut(incoming, fault);
    else forward(incoming, outgoing, fault);
  });

  /** Keeps all headers, and the proxy's Host among them, because the signature covers it. */
  function forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    fault: Extract<ProxyFault, { cut: string }> | undefined,
    change?: (answer: Answer) => Answer,
  ): void {
    const { headers, method, url: path } = incoming;
    const upstream = request({ hostname, port, method, path, headers, agent });
    upstream.on('response', (answer) => {
      if (fault !== undefined) {
        answer.resume();
        cut(incoming, fault);
        return;
      }
      if (change !== undefined) {
        buffer(answer).then(
          (body) => {
            const headers = answer.headers as Record<string, string>;
            send(outgoing, change({ status: answer.statusCode ?? 502, headers, body }));
          },
          () => incoming.socket.destroy(),
        );
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    upstream.on('error', () => incoming.socket.destroy());
    incoming.on('error', () => upstream.destroy());
    incoming.on('close', () => {
      if (!incoming.complete) upstream.destroy();
    });
    if (fault?.cut === 'during') {
      incoming.once('data', () => {
        upstream.destroy();
        cut(incoming, fault);
      });
    }
    incoming.pipe(upstream);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setPlan: (next) => {
      plan = next;
      planned = 0;
    },
    requests: () => requests,
    forgetRequests: () => {
      requests = 0;
    },
    close: async () => {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, status: 503 | 429): void {
  incoming.resume();
  incoming.once('end', () => {
    outgoing.writeHead(status, { 'content-type': 'application/xml' });
    const body = `<Error><Code>${S3_CODES[status]}</Code></Error>`;
    outgoing.end(incoming.method === 'HEAD' ? undefined : body);
  });
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, headers);
  outgoing.end(body);
}

function cut(incoming: IncomingMessage, fault: Extract<ProxyFault, { cut: string }>): void {
  fault.meanwhile?.();
  incoming.socket.destroy();
}
