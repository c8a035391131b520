// An Electron application whose updates are verified before electron-updater downloads them.
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { app, net } = require('electron');
const { autoUpdater } = require('electron-updater');
const { createElectronProvider } = require('./slipway-client.cjs');

const updateProvider = createElectronProvider({
  // "slipway trust init" wrote this file. It comes with the application, never from the network.
  root: readFileSync(path.join(__dirname, 'root.json')),
  cache: path.join(app.getPath('userData'), 'verified-updates'),
  url: process.env.UPDATES_URL ?? 'https://updates.example.com',
  app: 'desktop',
  // The network of Electron uses the proxy of the system.
  fetch: (url, init) => net.fetch(url, init),
});

autoUpdater.setFeedURL({ provider: 'custom', updateProvider });
autoUpdater.on('update-not-available', () => console.log('no update'));
autoUpdater.on('update-downloaded', ({ version }) => console.log(`verified: ${version}`));
// An UpdaterError has a code. The application goes on as it is, and checks again later.
autoUpdater.on('error', (error) => console.error(`no update (${error.code}): ${error.message}`));

app.whenReady().then(async () => {
  const result = await autoUpdater.checkForUpdates().catch(() => null);
  await result?.downloadPromise?.catch(() => {});
});
