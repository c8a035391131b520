import type { Status } from '../../status/status.ts';
import type { App } from '../deps.ts';
import { errorResponses } from '../error-responses.ts';
import { renderStatus, STATUS_CACHE, STATUS_PATH, statusAnswerSchema } from './status-answer.ts';

export interface StatusRouteDeps {
  readonly status: Pick<Status, 'report'>;
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
}

const schema = {
  summary: 'Read the status of the service and of its components',
  description:
    'The result of background checks. The HTTP status is always 200, even when components are down.',
  tags: ['status'],
  response: { 200: statusAnswerSchema, ...errorResponses('overloaded') },
};

export function registerStatus(app: App, deps: StatusRouteDeps): void {
  app.get(STATUS_PATH, { schema }, (_request, reply) => {
    reply
      .header('cache-control', STATUS_CACHE)
      .send(renderStatus(deps.status.report(), deps.publicUrl()));
  });
}
