import type { ChannelFeed, SetUp } from '../set-up.ts';

/** The architectures of AppImages, with the words that AppImage's own tools write into names of files. */
export const ZSYNC_ARCHES = [
  ['x64', 'x86_64'],
  ['arm64', 'aarch64'],
  ['armv7', 'armhf'],
  ['ia32', 'i686'],
] as const;

/** appimagetool writes the update information into the AppImage, and AppImageUpdate reads it there. */
export function describeZsyncSetUp({ url, isRestricted }: ChannelFeed): SetUp {
  const addressFor = (word: string): string => `${url}/App-${word}.AppImage.zsync`;
  return {
    addresses: ZSYNC_ARCHES.map(([arch, word]) => ({
      clients: `Linux ${arch}`,
      url: addressFor(word),
      machines: { platform: 'linux', arch },
    })),
    texts: [
      {
        into: 'the command that builds the AppImage',
        text: `appimagetool --updateinformation "zsync|${addressFor('x86_64')}" App.AppDir App-x86_64.AppImage`,
      },
    ],
    notes: [
      'Replace App with a name of your choice, and keep the architecture in it. Every AppImage contains the address, so never change it.',
      ...(isRestricted
        ? [
            'The channel needs an access token of an account, which AppImageUpdate and zsync do not send: they cannot update from it.',
          ]
        : []),
    ],
  };
}
