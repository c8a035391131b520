import { MINISIGN } from '../../domain/signature.ts';
import { configurationText } from '../configuration-text.ts';
import type { ChannelFeed, SetUp } from '../set-up.ts';

const USUAL = { file: 'src-tauri/tauri.conf.json', syntax: 'json' } as const;

/** The updater reads `plugins.updater` of Tauri's configuration. */
export function describeTauriSetUp(feed: ChannelFeed): SetUp {
  const { url, isRestricted, publicKeys, configuration: file = USUAL } = feed;
  const key = publicKeys[MINISIGN];
  const endpoint = `${url}/{{target}}/{{arch}}/{{current_version}}/{{bundle_type}}`;
  const configuration = {
    // Tauri.toml has its keys in kebab case.
    bundle: {
      [file.syntax === 'toml' ? 'create-updater-artifacts' : 'createUpdaterArtifacts']: true,
    },
    plugins: { updater: { endpoints: [endpoint], pubkey: key ?? 'YOUR_PUBLIC_KEY' } },
  };
  const configured = {
    into: file.file,
    text: configurationText(file, configuration),
  };
  const token = {
    into: 'the code that checks for updates',
    text: `const update = await check({ headers: { Authorization: \`Bearer \${accessToken}\` } });`,
  };
  return {
    addresses: [
      { clients: 'all platforms', url: endpoint },
      { clients: 'all platforms, when your endpoint is a static file', url: `${url}/latest.json` },
    ],
    texts: isRestricted ? [configured, token] : [configured],
    notes: [
      ...(key === undefined
        ? [
            'Replace YOUR_PUBLIC_KEY with the key that "tauri signer generate" printed. After "slipway apps set --tauri-pubkey KEY", "slipway feeds" prints it.',
          ]
        : []),
      ...(isRestricted
        ? [
            'The channel needs an access token of an account. The updater sends the headers of check() with the check and with the download.',
          ]
        : []),
    ],
  };
}
