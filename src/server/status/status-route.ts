import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { App } from '../deps.ts';
import { errorResponses } from '../http/error-responses.ts';
import { createBriefAnswers, sendShared, shareAnswer } from '../http/fast/shared-answer.ts';
import type { Status } from './status.ts';
import { renderStatus, STATUS_CACHE, STATUS_PATH, statusAnswerSchema } from './status-answer.ts';

export interface StatusRouteDeps {
  readonly status: Pick<Status, 'report'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
}

const schema = {
  operationId: 'getStatus',
  summary: 'Read the status of the service and of its components',
  description:
    'The result of background checks, at most one second old. The HTTP status is always 200, even when components are down.',
  tags: ['status'],
  response: {
    200: statusAnswerSchema,
    304: z.null().describe('Not changed since the ETag in If-None-Match.'),
    ...errorResponses('overloaded'),
  },
};

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': STATUS_CACHE,
};

export function registerStatus(app: App, deps: StatusRouteDeps): void {
  const answers = createBriefAnswers(deps.clock);
  const render = () => {
    const status = renderStatus(deps.status.report(), deps.publicUrl());
    return shareAnswer(HEADERS, JSON.stringify(status), false);
  };
  app.get(STATUS_PATH, { schema }, (request, reply) => {
    sendShared(request, reply, answers.get('', render));
  });
}
