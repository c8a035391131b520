import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { App } from '../deps.ts';
import { collectDocuments, type DocumentSettings } from '../documentation/documents.ts';
import { registerCors } from '../http/cors.ts';
import type { ServerSettings } from '../http/server-options.ts';
import type { Load } from '../limits/load.ts';
import { buildBase } from './base-server.ts';

interface ServerDeps {
  readonly metrics: Registry;
  /** The origins whose pages may send cookies and access tokens. */
  readonly origins: readonly string[];
  /** Absolute, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly documents: DocumentSettings;
  /** The routes, in the order of the OpenAPI documents. */
  readonly routes: readonly FastifyPluginAsyncZod[];
}

/**
 * The key of a plugin's name. When a plugin has no name, Fastify names it after its file, and compares the plugin with
 * every loaded module to find this file.
 */
const DISPLAY_NAME = Symbol.for('fastify.display-name');

/** The whole server; it does not listen yet. */
export async function buildServer(
  settings: ServerSettings & { readonly load: Load },
  deps: ServerDeps,
): Promise<App> {
  const { metrics, origins, publicUrl, documents, routes } = deps;
  const app = await buildBase(settings, metrics);
  app.addHook('onClose', async () => settings.load.stop());
  await registerCors(app, { origins, ownOrigin: () => new URL(publicUrl()).origin });
  // Comes before the routes that the documents describe.
  await collectDocuments(app, documents);
  for (const plugin of routes) {
    await app.register(Object.assign(plugin, { [DISPLAY_NAME]: plugin.name || 'routes' }));
  }
  return app;
}
