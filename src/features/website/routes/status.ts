import type { Clock } from '../../../core/clock.ts';
import type { App } from '../../../server/deps.ts';
import {
  createBriefAnswers,
  sendShared,
  sharePage,
} from '../../../server/http/fast/shared-answer.ts';
import type { Status } from '../../../server/status/status.ts';
import { STATUS_CACHE, STATUS_PATH, timeText } from '../../../server/status/status-answer.ts';
import type { Site } from '../../../web/site.ts';
import { renderStatusPage } from '../pages/status-page.ts';
import { PAGE_HEADERS } from './page-answer.ts';

/** The status of the service and of its components, for visitors. */

export interface StatusPageDeps {
  readonly status: Pick<Status, 'report'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly site: () => Promise<Site>;
}

const HEADERS = { ...PAGE_HEADERS, 'cache-control': STATUS_CACHE };

export function registerStatusPage(app: App, deps: StatusPageDeps): void {
  const answers = createBriefAnswers(deps.clock);
  app.get('/status', { schema: { hide: true } }, async (request, reply) => {
    const site = await deps.site();
    sendShared(
      request,
      reply,
      answers.get('', () => sharePage(HEADERS, render(site, deps.status), false)),
    );
  });
}

function render(site: Site, status: Pick<Status, 'report'>): string {
  const { at, indicator, description, components } = status.report();
  return renderStatusPage(site, {
    indicator,
    description,
    updatedAt: timeText(at),
    components: components.map(({ updatedAt, checkedAt, ...component }) => ({
      ...component,
      updatedAt: timeText(updatedAt),
      checkedAt: checkedAt === null ? null : timeText(checkedAt),
    })),
    jsonPath: STATUS_PATH,
  });
}
