import { configurationText } from '../configuration-text.ts';
import type { ChannelFeed, SetUp } from '../set-up.ts';

/** A client on Linux asks for a document with the client's `process.arch` in its name, except on x64. */
export const LINUX_SUFFIXES = [
  ['x64', ''],
  ['arm64', '-arm64'],
  ['armv7', '-arm'],
  ['ia32', '-ia32'],
] as const;

const YAML = { file: 'electron-builder.yml', syntax: 'yaml' } as const;

const ELSEWHERE =
  'When package.json has "build", electron-builder reads no electron-builder.yml: in the directory of the project, "slipway feeds --updater electron" prints the lines for the file that it reads. Replace an existing "publish", and remove update-electron-app.';
const RESTRICTED =
  'The channel needs an access token of an account. electron-updater sends requestHeaders with every request to this service. Set them again when the application refreshes its token.';

/** electron-builder writes its `publish` block into `app-update.yml`, and the updater reads this file. */
export function describeElectronSetUp(feed: ChannelFeed): SetUp {
  const { application, url, isRestricted, configuration } = feed;
  const settings = (arch: string) => ({
    provider: 'generic',
    url: `${url}?arch=${arch}`,
    channel: 'latest',
  });
  const file = configuration ?? YAML;
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
        into: file.file,
        // electron-builder itself replaces the variable.
        text: configurationText(file, { publish: settings(`\${arch}`) }),
      },
      {
        into: 'app-update.yml, only when electron-builder does not write it; arch as built',
        text: configurationText(YAML, {
          ...settings('x64'),
          updaterCacheDirName: `${application}-updater`,
        }),
      },
      {
        into: 'the main process, before the first check',
        text: isRestricted
          ? `autoUpdater.requestHeaders = {\n  'x-current-version': app.getVersion(),\n  authorization: \`Bearer \${accessToken}\`,\n};`
          : "autoUpdater.requestHeaders = { 'x-current-version': app.getVersion() };",
      },
    ],
    notes: [
      ...(configuration === undefined ? [ELSEWHERE] : []),
      ...(isRestricted ? [RESTRICTED] : []),
    ],
  };
}
