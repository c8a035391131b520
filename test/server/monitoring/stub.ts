import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An upstream monitoring service on a loopback port, which answers as a test says. */
export interface MonitoringStub {
  readonly baseUrl: string;
  /** Every request it got: method, address as sent, headers. */
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  }[];
  answerWith(listener: RequestListener): void;
  /** Answers 200 with this JSON. */
  answerJson(body: unknown): void;
  close(): Promise<void>;
}

export async function startMonitoringStub(): Promise<MonitoringStub> {
  let listener: RequestListener = (_request, response) => response.end();
  const requests: MonitoringStub['requests'] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers });
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answerWith = (next: RequestListener): void => {
    listener = next;
  };
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith,
    answerJson: (body) =>
      answerWith((_request, response) =>
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
