import type { ChannelFeed, SetUp } from '../set-up.ts';

/** Electron's `autoUpdater` is set up in the main process. */
export function describeSquirrelMacSetUp({ url, isRestricted }: ChannelFeed): SetUp {
  const headers = isRestricted ? `,\n  headers: { Authorization: \`Bearer \${accessToken}\` }` : '';
  const text = `import { app, autoUpdater } from 'electron';

autoUpdater.setFeedURL({
  url: \`${url}/darwin/\${process.arch}/\${app.getVersion()}\`${headers},
});
autoUpdater.checkForUpdates();`;
  return {
    addresses: [
      {
        clients: 'macOS',
        url: `${url}/darwin/\${process.arch}/\${app.getVersion()}`,
        machines: { platform: 'macos' },
      },
      {
        clients: "macOS, with serverType: 'json'",
        url: `${url}/darwin/\${process.arch}/releases.json`,
        machines: { platform: 'macos' },
      },
    ],
    texts: [{ into: 'the main process, on macOS', text }],
    notes: [
      'The client installs the zip, and visitors download the disk image: let the build make both.',
      ...(isRestricted
        ? [
            'The channel needs an access token of an account. Call setFeedURL again when the token is renewed.',
          ]
        : []),
    ],
  };
}
