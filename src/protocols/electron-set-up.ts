import { stringify } from 'yaml';
import type { ChannelFeed, SetUp } from './set-up.ts';

/** The document that a client on Linux asks for has its `process.arch` in its name, except on x64. */
export const LINUX_SUFFIXES = [
  ['x64', ''],
  ['arm64', '-arm64'],
  ['armv7', '-arm'],
  ['ia32', '-ia32'],
] as const;

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
      { clients: 'Windows', url: `${url}/latest.yml`, machines: { platform: 'windows' } },
      { clients: 'macOS', url: `${url}/latest-mac.yml`, machines: { platform: 'macos' } },
      ...LINUX_SUFFIXES.map(([arch, suffix]) => ({
        clients: `Linux ${arch}`,
        url: `${url}/latest-linux${suffix}.yml`,
        machines: { platform: 'linux', arch } as const,
      })),
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
