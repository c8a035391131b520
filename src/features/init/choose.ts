import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Project } from '../../builds/project/project.ts';
import { namesIn, readText } from '../../builds/project/project-files.ts';
import type { Facts } from '../../cli/facts.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import { parseApplicationName } from '../../domain/channel.ts';
import { refuseReservedName } from '../../domain/reserved-name.ts';
import {
  type Choices,
  CI_CHOICES,
  type CiChoice,
  type StoreChoice,
  settingsOf,
} from './choices.ts';
import type { Question, Questions } from './questions.ts';

/**
 * Decides what `slipway init` writes. Options come first, then answers, then an existing `.env`, then the facts in the
 * project's files.
 */

export interface InitOptions {
  readonly app?: string;
  readonly bucket?: string;
  readonly region?: string;
  readonly endpoint?: string;
  readonly prefix?: string;
  readonly url?: string;
  readonly channel: string;
  readonly ci?: CiChoice;
}

type Settings = Pick<Facts, 'loadConfig' | 'settingGroups'>;

/**
 * @param existing see {@link readExisting}
 * @param questions undefined: the command asks nothing
 * @throws AppError `invalid_configuration` and `invalid_name` for values that the settings refuse, `invalid_request`
 *   for options that do not fit together
 */
export async function choose(
  settings: Settings,
  project: Project,
  options: InitOptions,
  existing: Existing,
  questions: Questions | undefined,
): Promise<Choices> {
  const refused = (values: Values) => refusedSettings(settings, values);
  const ask = async (given: string | undefined, question: Question) =>
    given ?? (questions === undefined ? question.usual : await questions.ask(question));
  const application = await ask(options.app, {
    text: 'Name of the application',
    usual: existing.DEFAULT_APP ?? project.application.text,
    refuse: refusedApplication,
  });
  const store = await chooseStore(refused, project, options, existing, ask);
  const publicUrl = await ask(options.url, {
    text: 'Public address of the service, such as https://updates.example.com (Enter: not yet known)',
    usual: existing.PUBLIC_URL,
    refuse: (url) => refused({ PUBLIC_URL: url }),
  });
  const ci = await ask(options.ci, {
    text: 'CI service: github, gitlab or none',
    usual: project.ci.kind ?? 'none',
    refuse: (answer) =>
      CI_CHOICES.some((choice) => choice === answer)
        ? undefined
        : `${JSON.stringify(answer)} is not a CI service. Choices: ${CI_CHOICES.join(', ')}.`,
  });
  const choices: Choices = {
    application: application ?? project.application.text,
    channel: options.channel,
    store,
    publicUrl,
    ci: CI_CHOICES.find((choice) => choice === ci) ?? 'none',
  };
  refuseReservedName(parseApplicationName(choices.application));
  settings.loadConfig(settingsOf(choices), 'command');
  return choices;
}

type Ask = (given: string | undefined, question: Question) => Promise<string | undefined>;
type Existing = Readonly<Record<string, string | undefined>>;
type Values = Readonly<Record<string, string>>;

async function chooseStore(
  refused: (values: Values) => string | undefined,
  project: Project,
  { bucket: stated, region, endpoint, prefix }: InitOptions,
  existing: Existing,
  ask: Ask,
): Promise<StoreChoice> {
  const isBucket = existing.OBJECT_STORE === 's3';
  const directory = existing.DATA_DIR ?? (await freeDirectory(project.directory));
  const bucket = await ask(stated, {
    text: `Bucket for the releases (Enter: ${isBucket ? 'that of .env' : `the directory ${directory}`})`,
    usual: isBucket ? existing.S3_BUCKET : undefined,
    refuse: (name) => refused({ OBJECT_STORE: 's3', S3_BUCKET: name }),
  });
  if (bucket === undefined) {
    refuseBucketOptions({ region, endpoint, prefix });
    return { kind: 'directory', directory };
  }
  return {
    kind: 'bucket',
    bucket,
    region: await ask(region, {
      text: 'Region of the bucket',
      usual: existing.S3_REGION ?? existing.AWS_REGION ?? 'us-east-1',
      refuse: (name) => refused({ S3_REGION: name }),
    }),
    endpoint: await ask(endpoint, {
      text: 'Address of the store (Enter: AWS)',
      usual: existing.S3_ENDPOINT,
      refuse: (url) => refused({ S3_ENDPOINT: url }),
    }),
    prefix: prefix ?? existing.S3_PREFIX,
  };
}

function refuseBucketOptions(options: Readonly<Record<string, string | undefined>>): void {
  const [name] = Object.keys(options).filter((key) => options[key] !== undefined);
  if (name === undefined) return;
  throw new AppError('invalid_request', `--${name} is for a bucket. Add --bucket NAME.`);
}

/** Says in one line why the settings refuse values; undefined when they accept them. */
function refusedSettings({ loadConfig }: Settings, values: Values): string | undefined {
  try {
    loadConfig(values, 'command');
    return undefined;
  } catch (error) {
    if (!isAppError(error, 'invalid_configuration')) throw error;
    const issue = error.issues.find(({ pointer }) => pointer.slice(1) in values);
    return issue === undefined ? undefined : `It ${issue.detail}.`;
  }
}

function refusedApplication(name: string): string | undefined {
  try {
    refuseReservedName(parseApplicationName(name));
    return undefined;
  } catch (error) {
    if (!isAppError(error, 'invalid_name')) throw error;
    return error.message;
  }
}

/** Reads the settings of Slipway in an existing `.env`, and leaves out other variables. */
export async function readExisting(
  { settingGroups }: Pick<Settings, 'settingGroups'>,
  directory: string,
): Promise<Existing> {
  const text = await readText(directory, '.env');
  if (text === undefined) return {};
  const names = settingGroups.flatMap(({ settings }) => settings.map(({ name }) => name));
  const values = parseEnv(text);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = values[name]?.trim();
      return value ? [[name, value] as const] : [];
    }),
  );
}

const USUAL_DIRECTORY = './data';
const OTHER_DIRECTORY = './slipway-data';

/** The default directory of the settings; another directory when the project uses the default one for other files. */
async function freeDirectory(project: string): Promise<string> {
  const names = await namesIn(path.join(project, USUAL_DIRECTORY));
  return names.length === 0 || names.includes('objects') ? USUAL_DIRECTORY : OTHER_DIRECTORY;
}
