import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { App } from '../../server/deps.ts';
import { SEEN_REQUEST_PATH, type SeenRequest } from './diagnose/seen-request.ts';

/**
 * Answers with the parts of a request that reach the service. `slipway doctor --url` uses it to check the proxies in
 * front of the service. The answer says nothing about other clients or the store.
 */

interface SeenRequestDeps {
  /** The clock of the machine. The service's own clock may follow the clock of the store. */
  readonly machineClock: Pick<Clock, 'now'>;
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
  /** The version of Slipway. */
  readonly version: string;
}

const seenRequestSchema: z.ZodType<SeenRequest> = z.strictObject({
  address: z.string().describe('The client, as rate limits count it: see TRUST_PROXY.'),
  has_forwarded_for: z.boolean().describe('Whether X-Forwarded-For arrived.'),
  is_proxy_trusted: z.boolean().describe('Whether the address was taken from X-Forwarded-For.'),
  has_authorization: z.boolean().describe('Whether Authorization arrived.'),
  header_bytes: z.int().describe('The length of all header names and values.'),
  public_url: z.string().describe('The PUBLIC_URL of the service.'),
  version: z.string().describe('The version of Slipway.'),
  time: z.string(),
  request_id: z.string(),
});

const schema = {
  operationId: 'getSeenRequest',
  summary: 'Read what the service sees of this request',
  description: 'For operators, to check the proxies in front of the service.',
  tags: ['status'],
  response: { 200: seenRequestSchema },
};

export function seenRequestRoutes(deps: SeenRequestDeps): FastifyPluginAsyncZod {
  return async (app) => registerSeenRequest(app, deps);
}

function registerSeenRequest(app: App, deps: SeenRequestDeps): void {
  app.get(SEEN_REQUEST_PATH, { schema }, (request, reply) => {
    const { headers, raw } = request;
    reply.header('cache-control', 'no-store').send({
      address: request.ip,
      has_forwarded_for: headers['x-forwarded-for'] !== undefined,
      // Fastify lists the address of the connection first. It adds further addresses as long as it trusts the proxies.
      is_proxy_trusted: (request.ips?.length ?? 0) > 1,
      has_authorization: headers.authorization !== undefined,
      header_bytes: raw.rawHeaders.reduce((sum, text) => sum + text.length, 0),
      public_url: deps.publicUrl(),
      version: deps.version,
      time: new Date(deps.machineClock.now()).toISOString(),
      request_id: request.id,
    });
  });
}
