import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Clock } from '../clock.ts';
import type { DownloadLinks } from '../object-store/presigned-url-cache.ts';
import type { ServiceDeps } from '../operations/check-for-update.ts';

/** What the routes use. */
export interface RouteDeps extends ServiceDeps {
  readonly links: DownloadLinks;
  readonly clock: Clock;
  readonly defaultApplication: string;
  readonly checkAgainAfterSeconds: number;
  /** Absolute, without a trailing slash. Addresses are made from this alone, never from a Host header. */
  readonly publicUrl: () => string;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;
