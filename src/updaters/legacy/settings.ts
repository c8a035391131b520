import { names } from '../../core/settings/kinds.ts';
import { defineKind, defineSettings, optional, refuseValue } from '../../core/settings/setting.ts';
import { parseApplicationName } from '../../domain/channel.ts';
import { OWN_PATHS } from '../../domain/reserved-name.ts';

/** The settings for addresses of other update servers. */

export const LEGACY_SERVER_NAMES = ['hazel', 'nuts', 'electronjs'] as const;
type LegacyServerName = (typeof LEGACY_SERVER_NAMES)[number];

interface LegacyConfig {
  readonly servers: readonly LegacyServerName[];
  /** Applications by `owner/repo`, or by a name in the address. */
  readonly applications: ReadonlyMap<string, string>;
}

const servers = defineKind(
  `names out of ${LEGACY_SERVER_NAMES.join(', ')}, separated by commas or spaces`,
  (value): readonly LegacyServerName[] | undefined => {
    const given = names.schema.parse(value);
    const known = LEGACY_SERVER_NAMES.filter((name) => given.includes(name));
    return given.every((name) => known.some((each) => each === name)) ? known : undefined;
  },
);

const applications = defineKind(
  'pairs such as owner/repo=desktop, separated by commas or spaces',
  (value): ReadonlyMap<string, string> | undefined => {
    const found = new Map<string, string>();
    for (const pair of names.schema.parse(value)) {
      const [address = '', application = '', ...rest] = pair.split('=');
      if (!/^[^/\s]+(\/[^/\s]+)?$/.test(address) || rest.length > 0) return undefined;
      const isKnown = [...found.keys()].some((key) => key.toLowerCase() === address.toLowerCase());
      if (isKnown) throw refuseValue(`names ${address} twice`);
      const [owner = '', repository] = address.split('/');
      if (repository !== undefined && OWN_PATHS.includes(owner)) {
        throw refuseValue(`names ${address}, but /${owner} is an address of the service itself`);
      }
      found.set(address, parseApplicationName(application));
    }
    return found;
  },
);

export interface LegacySettings {
  readonly legacy: LegacyConfig;
}

export const legacySettings = defineSettings({
  title: 'Addresses of other update servers',
  settings: {
    LEGACY_ADDRESSES: optional(
      servers,
      'The update servers whose addresses the service answers at its root, so that applications that ask there need no new build. `nuts` includes electron-release-server. See [Addresses of other update servers](../clients/other-servers.md)',
      { otherwise: 'none', example: 'hazel,nuts,electronjs' },
    ),
    LEGACY_APPS: optional(
      applications,
      'The application that an address of another server means: by `owner/repo` for update.electronjs.org, by the flavor for electron-release-server, or by a name in front of the platform. An address of Hazel or Nuts without any of these means `DEFAULT_APP`',
      { otherwise: 'none', example: 'acme/desktop=desktop' },
    ),
  },
  read: (env): LegacySettings => ({
    legacy: Object.freeze({
      servers: env.LEGACY_ADDRESSES ?? [],
      applications: env.LEGACY_APPS ?? new Map(),
    }),
  }),
});
