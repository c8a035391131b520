import type { ChannelFeed, SetUp } from '../set-up.ts';

/** The application passes the address to its `UpdateManager`, which adds the name of Velopack's channel. */
export function describeVelopackSetUp({ url, isRestricted }: ChannelFeed): SetUp {
  return {
    addresses: [
      {
        clients: 'Windows',
        url: `${url}/releases.win.json`,
        machines: { platform: 'windows' },
      },
      { clients: 'macOS', url: `${url}/releases.osx.json`, machines: { platform: 'macos' } },
      { clients: 'Linux', url: `${url}/releases.linux.json`, machines: { platform: 'linux' } },
      {
        clients: 'Windows, applications that were installed by Squirrel',
        url: `${url}/RELEASES`,
        machines: { platform: 'windows' },
      },
    ],
    texts: [
      { into: 'a .NET application', text: `var manager = new UpdateManager("${url}");` },
      { into: 'a JavaScript application', text: `const manager = new UpdateManager('${url}');` },
    ],
    notes: [
      '"slipway publish" makes deltas from the releases that most clients run. vpk needs no earlier packages for that.',
      'The client adds the name of its Velopack channel to the address: win, osx, linux, or that of vpk pack --channel. Begin such a name with the platform, and with the architecture when you build several: win-x64, osx-arm64-beta. The JavaScript and Rust libraries state their platform in no other way.',
      'The feed cannot list a release that an older version of publish stored without SHA-1. Publish the same files again.',
      ...(isRestricted
        ? [
            'The channel needs an access token of an account. The C# library sends it with an HttpClientFileDownloader of your own; the others cannot.',
          ]
        : []),
    ],
  };
}
