import { stringify } from 'yaml';
import type { ChannelFeed, SetUp } from './set-up.ts';

/** electron-builder writes `app-update.yml` from its `publish` block, and the updater reads that. */
export function describeElectronSetUp({ application, url, isRestricted }: ChannelFeed): SetUp {
  const settings = (arch: string) => ({
    provider: 'generic',
    url: `${url}?arch=${arch}`,
    channel: 'latest',
  });
  const yaml = (document: object): string => stringify(document, { lineWidth: 0 }).trimEnd();
  return {
    addresses: [
      { clients: 'Windows', url: `${url}/latest.yml` },
      { clients: 'macOS', url: `${url}/latest-mac.yml` },
      { clients: 'Linux', url: `${url}/latest-linux.yml` },
      { clients: 'Linux arm64', url: `${url}/latest-linux-arm64.yml` },
    ],
    texts: [
      {
        into: 'electron-builder.yml',
        // electron-builder itself replaces the variable.
        text: yaml({ publish: settings(`\${arch}`) }),
      },
      {
        into: 'app-update.yml, only when electron-builder does not write it; arch as built',
        text: yaml({ ...settings('x64'), updaterCacheDirName: `${application}-updater` }),
      },
      {
        into: 'the main process, before the first check',
        text: isRestricted
          ? `autoUpdater.requestHeaders = {\n  'x-current-version': app.getVersion(),\n  authorization: \`Bearer \${accessToken}\`,\n};`
          : "autoUpdater.requestHeaders = { 'x-current-version': app.getVersion() };",
      },
    ],
    notes: isRestricted
      ? [
          'The channel needs an access token of an account. electron-updater sends requestHeaders with every request to this service. Set them again when the application refreshes its token.',
        ]
      : [],
  };
}
