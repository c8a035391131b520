import { configurationText } from '../configuration-text.ts';
import type { ChannelFeed, SetUp } from '../set-up.ts';

/** The application passes the address to Squirrel, which adds `/RELEASES`. */
export function describeSquirrelSetUp({ url, isRestricted, configuration }: ChannelFeed): SetUp {
  return {
    addresses: [
      {
        clients: 'Windows',
        url: `${url}/RELEASES`,
        machines: { platform: 'windows' },
      },
      {
        clients: 'Windows, an application for ARM64',
        url: `${url}/arm64/RELEASES`,
        machines: { platform: 'windows', arch: 'arm64' },
      },
    ],
    texts: [
      {
        into: 'the main process of an Electron application, before the first check',
        text: `autoUpdater.setFeedURL({ url: '${url}' });`,
      },
      {
        into: `the options of maker-squirrel in ${configuration?.file ?? 'forge.config.js'} (Electron Forge), or of createWindowsInstaller()`,
        text: configurationText(configuration ?? { syntax: 'javascript' }, { remoteReleases: url }),
      },
      {
        into: 'a .NET application',
        text: `using (var manager = new UpdateManager("${url}")) { await manager.UpdateApp(); }`,
      },
    ],
    notes: [
      'With remoteReleases, the build downloads the newest release first, and makes a delta from it. Without it, every client downloads full packages. Add it after the first release: a build fails while the feed has none.',
      `Squirrel states the architecture of the system, not of the application. With builds of several architectures on the channel, give each build its own address: ${url}/x64, ${url}/ia32, ${url}/arm64.`,
      'The feed cannot list a release that an older version of publish stored without SHA-1. Publish the same files again.',
      ...(isRestricted
        ? [
            'The channel needs an access token of an account, which Squirrel cannot send. Give its clients a channel that is open to every client.',
          ]
        : []),
    ],
  };
}
