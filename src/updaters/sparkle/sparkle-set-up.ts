import { escapeXml } from '../../core/xml.ts';
import { SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { ChannelFeed, SetUp } from '../set-up.ts';

/** The lines that go into applications with Sparkle, WinSparkle and NetSparkle. */

const YOUR_KEY = 'YOUR_PUBLIC_KEY';
const FIND_KEY =
  'Replace YOUR_PUBLIC_KEY with the public key that generate_keys printed. After "slipway apps set --sparkle-pubkey KEY", "slipway feeds" prints it.';
const QUERY =
  'Add current_version, arch, os_version and installation_id to the query of the address, as far as the application knows them. Without installation_id, a client gets a release when its rollout has reached 100%. Without current_version, it gets no release with --requires.';

/** Sparkle reads Info.plist; its delegate can replace the address. */
export function describeSparkleSetUp({ url, isRestricted, publicKeys }: ChannelFeed): SetUp {
  const key = publicKeys[SPARKLE_ED25519];
  const address = `${url}/appcast.xml`;
  return {
    addresses: [{ clients: 'macOS', url: address, machines: { platform: 'macos' } }],
    texts: [
      {
        into: 'Info.plist',
        text: [
          '<key>SUFeedURL</key>',
          `<string>${escapeXml(address)}</string>`,
          '<key>SUPublicEDKey</key>',
          `<string>${escapeXml(key ?? YOUR_KEY)}</string>`,
        ].join('\n'),
      },
      {
        into: 'the SPUUpdaterDelegate, for builds of one architecture and for rollouts',
        text: [
          'func feedURLString(for updater: SPUUpdater) -> String? {',
          `  "${address}?arch=\\(arch)&installation_id=\\(installationID)&current_version=\\(version)"`,
          '}',
        ].join('\n'),
      },
      ...(isRestricted
        ? [
            {
              into: 'the code that creates the updater',
              text: `updater.httpHeaders = ["Authorization": "Bearer \\(accessToken)"]`,
            },
          ]
        : []),
    ],
    notes: [...(key === undefined ? [FIND_KEY] : []), QUERY, ...restricted(isRestricted)],
  };
}

/** The application sets the address and the key before `win_sparkle_init`. */
export function describeWinSparkleSetUp({ url, isRestricted, publicKeys }: ChannelFeed): SetUp {
  const key = publicKeys[SPARKLE_ED25519];
  const address = `${url}/appcast.xml`;
  return {
    addresses: [{ clients: 'Windows', url: address, machines: { platform: 'windows' } }],
    texts: [
      {
        into: 'the program, before win_sparkle_init()',
        text: [
          `win_sparkle_set_appcast_url("${address}");`,
          `win_sparkle_set_eddsa_public_key("${key ?? YOUR_KEY}");`,
          ...(isRestricted ? ['win_sparkle_set_http_header("Authorization", bearerToken);'] : []),
        ].join('\n'),
      },
    ],
    notes: [
      ...(key === undefined ? [FIND_KEY] : []),
      'Add ?arch=arm64 to the address in an arm64 build. Without it, the client gets no release that has arm64 builds only.',
      QUERY,
      ...restricted(isRestricted),
    ],
  };
}

const NETSPARKLE_MACHINES = [
  ['Windows', 'windows', 'x64'],
  ['Windows', 'windows', 'arm64'],
  ['macOS', 'macos', 'arm64'],
  ['macOS', 'macos', 'x64'],
  ['Linux', 'linux', 'x64'],
  ['Linux', 'linux', 'arm64'],
] as const;

/** The constructor of the updater takes the address and the key. */
export function describeNetSparkleSetUp({ url, isRestricted, publicKeys }: ChannelFeed): SetUp {
  const key = publicKeys[SPARKLE_ED25519];
  const address = `${url}/appcast.xml`;
  const example = `${address}?platform=windows&arch=x64`;
  return {
    addresses: [
      ...NETSPARKLE_MACHINES.map(([clients, platform, arch]) => ({
        clients: `${clients} ${arch}`,
        url: `${address}?platform=${platform}&arch=${arch}`,
        machines: { platform, arch } as const,
      })),
      { clients: 'all systems', url: address },
    ],
    texts: [
      {
        into: 'the code that creates the updater; platform and arch as built',
        text: [
          'var sparkle = new SparkleUpdater(',
          `    "${example}",`,
          `    new Ed25519Checker(SecurityMode.OnlyVerifySoftwareDownloads, "${key ?? YOUR_KEY}"));`,
        ].join('\n'),
      },
    ],
    notes: [
      ...(key === undefined ? [FIND_KEY] : []),
      'With SecurityMode.Strict, NetSparkle also requires a signature of the appcast. Then publish the appcast.xml and the appcast.xml.signature that netsparkle-generate-appcast wrote, with every release.',
      'NetSparkle does not compare versions of the system. Only clients that state platform and os_version in the query get a build with a minimum version.',
      QUERY,
      ...restricted(isRestricted),
    ],
  };
}

function restricted(isRestricted: boolean): readonly string[] {
  return isRestricted
    ? [
        'The channel needs an access token of an account. The client has to send it with the check and with the download: NetSparkle needs an IAppCastDataDownloader and an IUpdateDownloader of your own for it.',
      ]
    : [];
}
