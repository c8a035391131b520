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
      const { http, now, cache } = client;
      return downloadFile({ http, now, directory: downloadsIn(cache) }, offer.file, asked);
    },
  };
}
