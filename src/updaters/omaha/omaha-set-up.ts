import type { ChannelFeed, SetUp } from '../set-up.ts';

/** The address of the update server is compiled into the updater. */
export function describeOmahaSetUp({ url, isRestricted }: ChannelFeed): SetUp {
  const address = `${url}/v1/update`;
  return {
    addresses: [{ clients: 'all platforms', url: address }],
    texts: [
      {
        into: 'omaha/base/const_addresses.h of Google Update (Omaha 3)',
        text: `const TCHAR* const kUrlUpdateCheck = _T("${address}");`,
      },
      {
        into: "chrome/updater/branding.gni of an updater made from Chromium's",
        text: `update_check_url = "${address}"`,
      },
    ],
    notes: [
      'Answers are not signed with CUP, and packages are not CRX files. Build an updater that uses https, needs no CUP and runs plain installers.',
      'When an updater sends several applications in one request, add ?appid= with the identifier of this one.',
      ...(isRestricted
        ? [
            'The channel needs an access token of an account, which these updaters do not send: they cannot update from it.',
          ]
        : []),
    ],
  };
}
