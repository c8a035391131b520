import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { ServiceDeps } from '../../answers/open-channel.ts';
import type { Clock, Randomness } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { UNLIMITED } from '../../server/limits/load.ts';
import type { OpenedService, OpenService } from '../../server/opened-service.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { createSharedClock } from '../../store/shared-clock.ts';

/**
 * Asks the service in this process for its answers. This service does not listen for requests, and writes nothing to
 * the store.
 */

export interface QuestionDeps {
  /** Loads the service. */
  readonly loadService: () => Promise<OpenService>;
  /** The environment variables of the command, from which the service reads its settings. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The store. The service in this process only reads it. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** The answer of the service to a client without credentials, an id or a version in its headers. */
type Answer =
  | { readonly kind: 'document'; readonly body: Buffer; readonly contentType: string }
  /** A redirect to the stable address of a file. */
  | { readonly kind: 'file'; readonly location: string }
  | { readonly kind: 'none' };

export interface Questions {
  readonly config: Pick<OpenedService['config'], 'defaultApplication' | 'legacy'>;
  readonly service: ServiceDeps;
  /** The names of the applications with published releases. */
  applications(): readonly string[];
  /**
   * @param segments the segments of the path below the service's address, decoded
   * @throws AppError `catalog_unavailable` when the service cannot answer: the export must not take an outage for an
   *   answer
   */
  ask(segments: readonly string[]): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Opens the service in this process. It rejects when it cannot read the store: an export that knows only a part of the
 * catalog would remove the files of the other parts.
 *
 * @param publicUrl the address in documents, without a slash at its end
 */
export async function openQuestions(deps: QuestionDeps, publicUrl: string): Promise<Questions> {
  // The service keeps the last good catalog and secrets in its data directory. This service must not use the data
  // directory of another service.
  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'slipway-export-'));
  const removeDirectory = () => rm(dataDirectory, { recursive: true, force: true });
  try {
    const openService = await deps.loadService();
    // Stops the clock, so all answers are for the same moment. Otherwise a rollout that ends during the export would be
    // complete in only some of the answers.
    const now = deps.clock.now();
    const clock: Clock = { sleep: deps.clock.sleep, now: () => now };
    const { store, randomness } = deps;
    const app = await openService({
      environment: { ...deps.environment, PUBLIC_URL: publicUrl, DATA_DIR: dataDirectory },
      store,
      clock,
      randomness,
      logger: SILENT,
      load: UNLIMITED,
      onlyAnswers: true,
    });
    await app.catalog.refresh();
    await app.http.ready();
    const basePath = new URL(publicUrl).pathname.replace(/\/+$/, '');
    return {
      config: app.config,
      service: {
        clock: createSharedClock(clock, store),
        catalog: app.catalog,
        tiers: app.config.accounts.tiers,
      },
      applications: () => Object.keys(app.catalog.health().applications).sort(),
      ask: async (segments) => {
        const url = `${basePath}/${segments.map(encodeURIComponent).join('/')}`;
        const { statusCode, headers, rawPayload } = await app.http.inject({ method: 'GET', url });
        if (statusCode >= 500) {
          const detail = `The service answers ${url} with ${statusCode}: ${rawPayload.toString().slice(0, 300)}`;
          throw new AppError('catalog_unavailable', detail);
        }
        if (statusCode === 302) return { kind: 'file', location: String(headers.location) };
        if (statusCode !== 200) return { kind: 'none' };
        const contentType = String(headers['content-type']);
        return { kind: 'document', body: rawPayload, contentType };
      },
      close: async () => {
        await app.http.close();
        await app.catalog.stop();
        await removeDirectory();
      },
    };
  } catch (error) {
    await removeDirectory();
    throw error;
  }
}

const ignore = (): void => {};
/** A log that drops everything: the command reports its failures itself. */
const SILENT: FastifyBaseLogger = {
  level: 'silent',
  child: () => SILENT,
  fatal: ignore,
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
  trace: ignore,
  silent: ignore,
};
