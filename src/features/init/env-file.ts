import type { Facts } from '../../cli/facts.ts';
import { AppError } from '../../core/errors.ts';
import type { SettingGroup } from '../../core/settings/setting.ts';
import { type Choices, settingsOf } from './choices.ts';

/** The `.env` file: the first settings that a project needs, each with its description. */

/** The settings in the order of the file. A setting without a value becomes a comment with an example. */
const SHOWN = {
  directory: ['OBJECT_STORE', 'DATA_DIR', 'PUBLIC_URL', 'DEFAULT_APP'],
  bucket: [
    'OBJECT_STORE',
    'S3_BUCKET',
    'S3_REGION',
    'S3_ENDPOINT',
    'S3_PREFIX',
    'PUBLIC_URL',
    'DEFAULT_APP',
  ],
} as const;

const CREDENTIALS = `
# Do not put the credentials of the bucket into this file: other tools of the project may read it. Set
# AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or use a profile or a role of AWS.
`;

type SettingTexts = Pick<Facts, 'settingGroups'>;

/** @throws AppError `invalid_configuration` for a value that a `.env` file cannot contain */
export function renderEnvFile({ settingGroups }: SettingTexts, choices: Choices): string {
  const values = settingsOf(choices);
  const settings = settingGroups.flatMap((group) => group.settings);
  const entries = SHOWN[choices.store.kind].map((name) => entryOf(settings, name, values[name]));
  return `# The settings of Slipway, written by "slipway init". A variable of the environment takes precedence.
# docs/operations/settings.md in Slipway's repository has all of them.

${entries.join('\n')}${choices.store.kind === 'bucket' ? CREDENTIALS : ''}`;
}

function entryOf(
  settings: SettingGroup['settings'],
  name: string,
  value: string | undefined,
): string {
  const facts = settings.find((one) => one.name === name);
  if (facts === undefined) throw new Error(`There is no setting ${name}.`);
  const line =
    value === undefined ? `# ${name}=${facts.example}` : `${name}=${quoted(name, value)}`;
  return `# ${firstSentence(facts.about)}.\n${line}\n`;
}

/** The first sentence, without the marks of Markdown. */
function firstSentence(about: string): string {
  const [first = ''] = about.split(/[.;] /);
  return first.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

/** Node reads text in single quotes literally: backslashes of Windows stay, and `#` begins no comment. */
function quoted(name: string, value: string): string {
  if (/^[\w./:@%+,~-]*$/.test(value)) return value;
  if (!/['\p{Cc}]/u.test(value)) return `'${value}'`;
  const why = `The value ${JSON.stringify(value)} of ${name} has a quote or a control character, which a .env file cannot contain. Choose another value.`;
  throw new AppError('invalid_configuration', why);
}
