import { SETTING_GROUPS } from '../../src/config.ts';
import type { SettingFacts } from '../../src/core/settings/setting.ts';
import { renderTable } from './table.ts';

/** The settings reference and `.env.example`. Both come from the schemas that read the settings. */

/** Settings that the schemas of the configuration do not read. */
const READ_ELSEWHERE = [
  {
    name: 'AWS_ACCESS_KEY_ID',
    about: 'Read by the AWS SDK, as are its other settings, profiles and roles',
    accepts: 'the id of a key',
    otherwise: "the AWS SDK's own search",
    example: '',
  },
  {
    name: 'AWS_SECRET_ACCESS_KEY',
    about: 'Read by the AWS SDK',
    accepts: 'the secret of the key',
    otherwise: "the AWS SDK's own search",
    example: '',
  },
  {
    name: 'SLIPWAY_ACTOR',
    about: 'The name of the publisher, for the history',
    accepts: 'text',
    otherwise: "the CI service's user, else the system's user and host",
    example: 'ada',
  },
].map((setting) => ({ ...setting, default: undefined }));

const GROUPS = [
  ...SETTING_GROUPS,
  { title: 'Credentials and the command line', settings: READ_ELSEWHERE },
];

/** Renders `docs/operations/settings.md`. */
export function renderSettings(): string {
  const groups = GROUPS.map(({ title, settings }) => {
    const rows = settings.map((setting) => [
      `\`${setting.name}\``,
      setting.accepts,
      defaultOf(setting),
      `${setting.about}.`,
    ]);
    return `## ${title}\n\n${renderTable(['setting', 'value', 'default', 'what it does'], rows)}`;
  });
  return `# Settings

<!-- Written by "npm run docs" from the settings.ts of each room and feature in src: change the descriptions there. -->

The service and the command line read their settings from the environment. They also read a file \`.env\` in the
working directory; a variable of the environment takes precedence. Copy [.env.example](../../.env.example) to begin. An
empty value counts as not set. When settings are wrong, the program names all of them at once and ends. It never
prints a secret.

A duration is a whole number with its unit: \`30s\`, \`15m\`, \`4h\` or \`1d\`. A flag is \`true\` or \`false\`.

${groups.join('\n')}`;
}

function defaultOf({ default: text, otherwise }: SettingFacts): string {
  if (text !== undefined && text !== '') return `\`${text}\``;
  return otherwise === '' ? 'none' : otherwise;
}

/** Renders `.env.example`: every setting as a comment, with its default or an example. */
export function renderEnvExample(): string {
  const groups = GROUPS.map(({ title, settings }) => {
    const lines = settings.map(({ name, example }) => `# ${name}=${example}`);
    return `# --- ${title}\n${lines.join('\n')}\n`;
  });
  return `# Copy to .env. No setting is required here; docs/operations/settings.md explains each.
# Written by "npm run docs" from the settings.ts of each room and feature in src.

${groups.join('\n')}`;
}
