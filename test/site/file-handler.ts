import { existsSync, readFileSync, statSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import path from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** Answers as GitHub Pages does: `/slipway/concepts` is the file `concepts.html`. */
export function createFileHandler(root: string, base: string): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://pages');
    const named = path.join(root, decodeURIComponent(pathname.slice(base.length - 1)));
    const candidates = [named, `${named}.html`, path.join(named, 'index.html')];
    const file = candidates.find((each) => existsSync(each) && statSync(each).isFile());
    if (!pathname.startsWith(base) || file === undefined) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type }).end(readFileSync(file));
  };
}
