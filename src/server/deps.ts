import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ServiceDeps } from '../answers/open-channel.ts';
import type { Clock } from '../core/clock.ts';
import type { DownloadLinks } from '../store/download-links.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { UsageCounter } from '../usage/usage-counter.ts';
import type { ByteAnswers } from './bytes/byte-answers.ts';

/** The dependencies of the routes of applications and updaters. */
export interface RouteDeps extends ServiceDeps {
  readonly links: DownloadLinks;
  /** The store of the files of releases. */
  readonly store: Pick<ObjectStore, 'open'>;
  readonly bytes: ByteAnswers;
  readonly clock: Clock;
  readonly defaultApplication: string;
  readonly checkAgainAfterSeconds: number;
  /**
   * Absolute, without a trailing slash. Addresses in answers begin with this address, and never with the Host header.
   */
  readonly publicUrl: () => string;
  /**
   * The tier of the account that the access token in the Authorization header belongs to; null for an invalid token.
   * Never throws or rejects. Routes call `tierOfRequest`, which calls this function only when necessary.
   */
  readonly tierOf: (authorization: string) => string | null | Promise<string | null>;
  readonly usage: UsageCounter;
}

/**
 * The Fastify instance in which routes register themselves. The schema of a route gives the types of its request and
 * its answer.
 */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;
