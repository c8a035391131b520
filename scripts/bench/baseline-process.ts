import { createServer } from 'node:http';

/**
 * The least work that a Node server can do: for `/200/1234?anything`, it parses the body of the request and answers 200
 * with a body of 1,234 bytes.
 */

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
}

const answers = new Map<string, Answer>();

function answerTo(pathname: string): Answer {
  const [status = 200, bytes = 0] = pathname.split('/').slice(1).map(Number);
  const length = status === 304 ? {} : { 'content-length': bytes };
  const headers = { 'content-type': 'application/json; charset=utf-8', ...length };
  const answer = { status, headers, body: Buffer.alloc(bytes, '0') };
  answers.set(pathname, answer);
  return answer;
}

const server = createServer((request, response) => {
  const url = request.url ?? '';
  const query = url.indexOf('?');
  const pathname = query < 0 ? url : url.slice(0, query);
  const { status, headers, body } = answers.get(pathname) ?? answerTo(pathname);
  const chunks: Buffer[] = [];
  const answer = (): void => {
    if (request.method === 'POST') JSON.parse(String(Buffer.concat(chunks)));
    response.writeHead(status, headers).end(body);
  };
  if (request.method === 'GET') answer();
  else request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', answer);
});
// The service has the same value. The load generator reuses idle connections.
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env.PORT), process.env.HOST);
