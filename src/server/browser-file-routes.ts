import { gzipSync } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { LASTING } from '../answers/answer.ts';
import { AppError } from '../core/errors.ts';
import type { BrowserFile, BrowserFiles } from '../web/browser-files.ts';
import type { App } from './deps.ts';
import { type SharedAnswer, sendShared, shareAnswer } from './http/fast/shared-answer.ts';
import { type Load, shedLoad } from './limits/load.ts';

export interface BrowserFileDeps {
  /** Opened by the first request for a file. */
  readonly browserFiles: () => Promise<BrowserFiles>;
}

/**
 * For files that websites load under a fixed name: websites get the files of a new version of Slipway within an hour.
 */
const REVALIDATED = 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=604800';

/** The scripts and style sheets of the service's pages, and the elements for websites. */
export function browserFileRoutes(
  deps: BrowserFileDeps & { readonly load: Load },
): FastifyPluginAsyncZod {
  return async (app) => {
    shedLoad(app, deps.load);
    registerFiles(app, deps, 'assets', LASTING);
    registerFiles(app, deps, 'elements', REVALIDATED);
  };
}

/** The answers for one file: the plain file, and the compressed file. */
interface FileAnswers {
  readonly plain: SharedAnswer;
  readonly gzip: SharedAnswer;
}

/** Registers the files of a folder. The console calls this function, too, because it serves the files itself. */
export function registerFiles(
  app: App,
  { browserFiles }: BrowserFileDeps,
  folder: 'assets' | 'elements',
  cacheControl = LASTING,
): void {
  const answers = new Map<string, FileAnswers>();
  const schema = { hide: true, params: z.object({ file: z.string() }) };
  app.get(
    `/${folder}/:file`,
    { config: { localAccess: 'screen' }, schema },
    async (request, reply) => {
      const name = `${folder}/${request.params.file}`;
      const file = (await browserFiles()).file(name);
      if (file === undefined) {
        throw new AppError('route_not_found', `This service has no file ${JSON.stringify(name)}.`);
      }
      const answer = answers.get(name) ?? answersOf(file, cacheControl);
      answers.set(name, answer);
      const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['gzip']);
      sendShared(request, reply, encoding === 'gzip' ? answer.gzip : answer.plain);
    },
  );
}

function answersOf({ contentType, bytes }: BrowserFile, cacheControl: string): FileAnswers {
  const headers = {
    'content-type': contentType,
    'cache-control': cacheControl,
    vary: 'Accept-Encoding',
  };
  return {
    plain: shareAnswer(headers, bytes),
    gzip: shareAnswer({ ...headers, 'content-encoding': 'gzip' }, gzipSync(bytes, { level: 9 })),
  };
}
