import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Clock } from '../clock.ts';
import type { DownloadLinks } from '../object-store/presigned-url-cache.ts';
import type { ServiceDeps } from '../operations/check-for-update.ts';
import type { UsageCounter } from '../usage/usage-counter.ts';

/** What the routes use. */
export interface RouteDeps extends ServiceDeps {
  readonly links: DownloadLinks;
  readonly clock: Clock;
  readonly defaultApplication: string;
  readonly checkAgainAfterSeconds: number;
  /** Absolute, without a trailing slash. Addresses are made from this alone, never from a Host header. */
  readonly publicUrl: () => string;
  /**
   * The tier of the account whose access token an Authorization header carries; null when it carries
   * none that is good. Never throws, nor rejects. Ask {@link tierOfRequest}, which knows when to.
   */
  readonly tierOf: (authorization: string) => string | null | Promise<string | null>;
  readonly usage: UsageCounter;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;
