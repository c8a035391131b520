import type { ChannelFeed, SetUp } from '../set-up.ts';

/** Electron's `autoUpdater` is set up in the main process. */
export function describeMsixSetUp({ url, isRestricted }: ChannelFeed): SetUp {
  const address = `${url}/\${app.getVersion()}?arch=\${process.arch}`;
  const headers = isRestricted ? `,\n  headers: { Authorization: \`Bearer \${accessToken}\` }` : '';
  const text = `import { app, autoUpdater } from 'electron';

autoUpdater.setFeedURL({
  url: \`${address}\`${headers},
});
autoUpdater.checkForUpdates();`;
  return {
    addresses: [{ clients: 'Windows', url: address, machines: { platform: 'windows' } }],
    texts: [{ into: 'the main process, in an MSIX package', text }],
    notes: [
      'When you publish packages with a minimum system version, add &os_version= with os.release() to the address. Without it, a client gets no such package.',
    ],
  };
}
