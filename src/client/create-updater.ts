import { downloadFile } from './download.ts';
import { downloadsIn } from './saved-metadata.ts';
import type { Updater, UpdaterOptions } from './types.ts';
import { createVerifier } from './verifier.ts';

/**
 * Creates an updater that verifies with the root of trust what the service says.
 *
 * @throws UpdaterError `invalid_options`, `invalid_root`, `wrong_root`
 */
export function createUpdater(options: UpdaterOptions): Updater {
  const { client, check: verify } = createVerifier(options);
  return {
    check: async (asked) => {
      const result = await verify(asked);
      if (!result.isOffered) return result;
      const { isOffered, offer, checkAgainAfterSeconds } = result;
      return { isOffered, offer, checkAgainAfterSeconds };
    },
    download: (offer, asked = {}) => {
      const { http, now, cache, options } = client;
      const names = Object.keys(options.headers ?? {}).map((name) => name.toLowerCase());
      const hasToken = names.includes('authorization');
      const deps = { http, now, hasToken, directory: downloadsIn(cache) };
      return downloadFile(deps, offer.file, asked);
    },
  };
}
