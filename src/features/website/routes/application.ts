import { z } from 'zod';
import { cacheControl } from '../../../answers/answer.ts';
import {
  type Latest,
  type LatestQuery,
  listLatest,
} from '../../../answers/latest-version/list-latest.ts';
import { suggestDownloads } from '../../../answers/latest-version/suggest-downloads.ts';
import { isAppError } from '../../../core/errors.ts';
import { type Arch, PLATFORMS } from '../../../domain/platform.ts';
import type { VisitorMachine } from '../../../domain/visitor-machine.ts';
import type { App } from '../../../server/deps.ts';
import { sharePage } from '../../../server/http/fast/shared-answer.ts';
import { word } from '../../../server/http/validation.ts';
import { ASKED_HINTS, MACHINE_HEADERS, visitorMachine } from '../../../server/visitor-machine.ts';
import type { PageSubject } from '../../../web/site.ts';
import { renderApplicationPage } from '../pages/application-page.ts';
import {
  answerFromChannel,
  type MadeAnswer,
  PAGE_HEADERS,
  type PageContext,
  pageAbout,
} from './page-answer.ts';

/** The page from which visitors download an application. */

const schema = {
  hide: true,
  params: z.object({ app: word }),
  querystring: z.object({ channel: word.optional() }),
};

const HEADERS = {
  ...PAGE_HEADERS,
  'cache-control': cacheControl(false),
  vary: MACHINE_HEADERS,
  'accept-ch': ASKED_HINTS,
  // Without this header, a browser on its first visit would show the page for an unknown processor.
  'critical-ch': ASKED_HINTS,
};

export function registerApplicationPage(app: App, deps: PageContext): void {
  // The handler is not an async function: without a promise, the route can answer more requests a second.
  app.get('/apps/:app', { schema }, (request, reply) => {
    const about = pageAbout(request.params.app, request.query.channel);
    const machine = visitorMachine(request.headers);
    return answerFromChannel({ deps, request, reply }, about, `app ${nameOf(machine)}`, (named) =>
      make(deps, named, machine),
    );
  });
}

function nameOf(machine: VisitorMachine): string {
  return machine.kind === 'computer' ? `${machine.platform} ${machine.arch}` : machine.kind;
}

async function make(
  deps: PageContext,
  about: PageSubject,
  machine: VisitorMachine,
): Promise<MadeAnswer> {
  const query = { application: about.application, channel: about.channel.name };
  const latest = await listLatest(deps, { ...query, platform: null, arch: null }, null);
  const seen = [latest];
  const suggestions = await Promise.all(
    PLATFORMS.map(async (platform) => {
      const isOwn = machine.kind === 'computer' && machine.platform === platform;
      const list = async (arch: Arch | null): Promise<Latest['downloads']> => {
        if (arch === null) return latest.downloads;
        const found = await findLatest(deps, { ...query, platform, arch });
        if (found === undefined) return [];
        seen.push(found);
        return found.downloads;
      };
      const arch = isOwn ? machine.arch : null;
      return [platform, await suggestDownloads({ platform, arch, formats: [] }, list)] as const;
    }),
  );
  const html = renderApplicationPage(await deps.site(), {
    ...about,
    machine,
    newest: latest.release,
    suggested: Object.fromEntries(suggestions),
    files: latest.downloads,
  });
  return { answer: sharePage(HEADERS, html), seen };
}

/** The newest release for a machine; undefined when no release runs on the machine. */
async function findLatest(deps: PageContext, query: LatestQuery): Promise<Latest | undefined> {
  try {
    return await listLatest(deps, query, null);
  } catch (error) {
    if (isAppError(error, 'unsupported_platform')) return undefined;
    throw error;
  }
}
