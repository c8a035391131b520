import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/**
 * A plain static server of a directory, as there are many: it knows nothing of updates, states no content types, and
 * answers a single range. Several ranges get the whole file, as from S3, or with `several` their parts, as from nginx.
 */
export interface StaticServer {
  readonly url: string;
  /** The requests, in order: `GET /feeds/desktop/stable/electron/latest.yml 200`. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export async function startStaticServer(
  root: string,
  { several = false }: { readonly several?: boolean } = {},
): Promise<StaticServer> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', headers } = request;
    const { pathname } = new URL(request.url ?? '/', 'http://static');
    response.on('finish', () => requests.push(`${method} ${pathname} ${response.statusCode}`));
    const file = path.join(root, path.normalize(decodeURIComponent(pathname)));
    const found = await stat(file).catch(() => undefined);
    const index = path.join(file, 'index.html');
    if (found?.isDirectory() === true && !pathname.endsWith('/')) {
      response.writeHead(301, { location: `${pathname}/` }).end();
      return;
    }
    const served = found?.isDirectory() === true ? index : file;
    const size = (await stat(served).catch(() => undefined))?.size;
    if (size === undefined || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(size === undefined ? 404 : 405).end();
      return;
    }
    if (several && method === 'GET' && headers.range?.includes(',') === true) {
      const body = partsOf(await readFile(served), headers.range);
      const type = `multipart/byteranges; boundary=${BOUNDARY}`;
      response.writeHead(206, { 'content-type': type, 'content-length': body.length }).end(body);
      return;
    }
    const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '') ?? [];
    const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
    const end = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last));
    const isPart = first !== undefined && start <= end;
    const length = isPart ? end - start + 1 : size;
    const range = isPart ? { 'content-range': `bytes ${start}-${end}/${size}` } : {};
    response.writeHead(isPart ? 206 : 200, { 'content-length': length, ...range });
    if (method === 'HEAD' || length === 0) response.end();
    else createReadStream(served, isPart ? { start, end } : {}).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const BOUNDARY = 'static-server';

/** With a line break before the first boundary: zsync needs it. */
function partsOf(file: Buffer, ranges: string): Buffer {
  const parts = [...ranges.matchAll(/(\d+)-(\d+)/g)].flatMap(([, first, last]) => {
    const [start, end] = [Number(first), Math.min(Number(last), file.length - 1)];
    const head = `\r\n--${BOUNDARY}\r\ncontent-range: bytes ${start}-${end}/${file.length}\r\n\r\n`;
    return [Buffer.from(head), file.subarray(start, end + 1)];
  });
  return Buffer.concat([...parts, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}
