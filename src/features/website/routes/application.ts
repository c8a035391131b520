import { z } from 'zod';
import { cacheControl } from '../../../answers/answer.ts';
import { listLatest } from '../../../answers/latest-version/list-latest.ts';
import { PLATFORMS } from '../../../domain/platform.ts';
import type { VisitorMachine } from '../../../domain/visitor-machine.ts';
import type { App } from '../../../server/deps.ts';
import { sharePage } from '../../../server/http/shared-answer.ts';
import { word } from '../../../server/http/validation.ts';
import { ASKED_HINTS, MACHINE_HEADERS, visitorMachine } from '../../../server/visitor-machine.ts';
import type { PageSubject } from '../../../web/site.ts';
import { renderApplicationPage } from '../pages/application-page.ts';
import { suggestDownloads } from '../suggest-downloads.ts';
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
  // Without it, a browser would show the page for an unknown processor on its first visit.
  'critical-ch': ASKED_HINTS,
};

export function registerApplicationPage(app: App, deps: PageContext): void {
  // Not an async function: without a promise, the route answers more requests a second.
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
  const suggestions = await Promise.all(
    PLATFORMS.map(async (platform) => {
      const isOwn = machine.kind === 'computer' && machine.platform === platform;
      const arch = isOwn ? machine.arch : null;
      return [platform, await suggestDownloads(deps, query, platform, arch)] as const;
    }),
  );
  const html = renderApplicationPage(await deps.site(), {
    ...about,
    machine,
    newest: latest.release,
    suggested: Object.fromEntries(
      suggestions.map(([platform, { downloads }]) => [platform, downloads]),
    ),
    files: latest.downloads,
  });
  const seen = [latest, ...suggestions.flatMap(([, suggestion]) => suggestion.seen)];
  return { answer: sharePage(HEADERS, html), seen };
}
