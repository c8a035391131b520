import path from 'node:path';
import type { Secret } from '../../core/secret.ts';
import { duration, givenSecret, names, text } from '../../core/settings/kinds.ts';
import { defineSettings, optional, withDefault } from '../../core/settings/setting.ts';

export interface TrustSettings {
  readonly trust: {
    /** The absolute path of a root file, or of a directory of root files; undefined: no signed application is served. */
    readonly root: string | undefined;
    /** Applications that are read and served without verification. */
    readonly unsigned: readonly string[];
    /** The key of an operator: see `openSigner`. */
    readonly key: Secret | undefined;
    readonly passphrase: Secret | undefined;
    readonly freshMs: number;
  };
}

/** Whom this process trusts to publish. */
export const trustSettings = defineSettings({
  title: 'Trust',
  settings: {
    TRUST_ROOT: optional(
      text,
      'The root file of an application, which `slipway trust init` wrote, or a directory of such files. From then on the service offers only what the keys of that root signed. See [trust](trust.md)',
      { otherwise: 'no signed application is served', example: './root.json' },
    ),
    TRUST_UNSIGNED: optional(
      names,
      'The applications that are read and served without verification, although they are signed, or although `TRUST_ROOT` has no root for them. No command changes one of them that is signed',
      { otherwise: 'none', example: 'internal-tool' },
    ),
    TRUST_KEY: optional(
      givenSecret,
      "The key with which commands sign, as `--key` gives it: a file, the text of a key, or `command:NAME.pub:COMMAND`. A service with an operator's key renews the signed timestamp once an hour",
      { example: '/run/secrets/ci.key' },
    ),
    TRUST_KEY_PASSPHRASE: optional(
      givenSecret,
      'The passphrase of the key file. Without it, a command asks on a terminal',
    ),
    TRUST_FRESH: withDefault(
      duration({ min: '1h', max: '90d' }),
      '7d',
      'How long a signed timestamp is valid. A service that remembers nothing does not start from an older state',
    ),
  },
  read: (env): TrustSettings => ({
    trust: {
      root: env.TRUST_ROOT === undefined ? undefined : path.resolve(env.TRUST_ROOT),
      unsigned: env.TRUST_UNSIGNED ?? [],
      key: env.TRUST_KEY,
      passphrase: env.TRUST_KEY_PASSPHRASE,
      freshMs: env.TRUST_FRESH,
    },
  }),
});
