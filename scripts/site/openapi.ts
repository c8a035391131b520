import { pino } from 'pino';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { systemClock, systemRandomness } from '../../src/core/system.ts';
import { createMemoryStore } from '../../src/store/memory.ts';

/** The OpenAPI document of a service without settings, as it serves it to every visitor at `/docs/json`. */
export async function renderOpenapi(): Promise<string> {
  const { http, catalog } = await buildApp({
    config: loadConfig({ PUBLIC_URL: 'https://updates.example.com', HOST: '127.0.0.1' }),
    clock: systemClock,
    randomness: systemRandomness,
    logger: pino({ level: 'silent' }),
    store: createMemoryStore({ clock: systemClock }),
  });
  try {
    await http.ready();
    const { body } = await http.inject({ url: '/docs/json' });
    // The website has no second document: a page describes the routes of an account.
    return body.replace('](/docs/account)', '](../clients/http-api)');
  } finally {
    await http.close();
    await catalog.stop();
  }
}
