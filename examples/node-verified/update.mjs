// Looks for an update, verifies it, and downloads it. Replace the last line by what installs the file.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { createUpdater, UpdaterError } from 'slipway/client';

const { version: currentVersion } = JSON.parse(
  readFileSync(new URL('./package.json', import.meta.url)),
);

const updater = createUpdater({
  // "slipway trust init" wrote this file. It comes with the application, never from the network.
  root: readFileSync(new URL('./root.json', import.meta.url)),
  cache: process.env.UPDATES_CACHE ?? path.join(homedir(), '.local/state/node-verified'),
  url: process.env.UPDATES_URL ?? 'https://updates.example.com',
  app: 'desktop',
  currentVersion,
});

try {
  const result = await updater.check();
  if (!result.isOffered) {
    console.log(`no update: ${result.reason}`);
  } else {
    const { offer } = result;
    console.log(`${offer.version} is offered, and the keys of the channel signed it`);
    const file = await updater.download(offer, {
      onProgress: ({ received, total }) => console.log(`${received} of ${total} bytes`),
    });
    console.log(`verified: ${file}`);
  }
} catch (error) {
  if (!(error instanceof UpdaterError)) throw error;
  // The application goes on as it is, and checks again later.
  console.error(`no update (${error.code}): ${error.message}`);
  process.exitCode = 1;
}
