import { parseEnv } from 'node:util';
import type { Environment, Facts } from '../../cli/facts.ts';
import { AppError, isAppError, systemCode } from '../../core/errors.ts';
import { readPlainFile } from '../../core/plain-file.ts';
import type { PlaceName } from '../../store/open/place-name.ts';
import type { StoreSettings } from '../../store/open/settings.ts';
import type { S3StoreOptions } from '../../store/s3/s3.ts';

/** Reads the settings with which the command reaches one side of a copy. */

interface SettingsDeps extends Pick<Facts, 'loadConfig'> {
  readonly env: Environment;
}

export interface SideSettings {
  /** The settings of the command or of the file, with this place as the store. */
  readonly config: StoreSettings;
  /** The credentials for a bucket; absent: the AWS SDK finds them. */
  readonly credentials: S3StoreOptions['credentials'];
  /**
   * True when the settings come from a file: a file without `S3_ENDPOINT` means AWS, whatever this machine configures.
   */
  readonly ignoresConfiguredEndpoint: boolean;
}

/** The place of a side, and the file with its settings. With a file, the copy uses no other settings for this side. */
interface SideName {
  readonly place: PlaceName;
  /** The option that names the file, for errors. */
  readonly option: '--from-env' | '--to-env';
  /** Undefined: the settings of the command. */
  readonly file: string | undefined;
}

/** The settings that a file may have for a bucket. */
const S3_SETTINGS = ['S3_ENDPOINT', 'S3_REGION', 'AWS_REGION', 'S3_FORCE_PATH_STYLE'];
const KEY_SETTINGS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

/** More bytes than any file of settings has. */
const ENV_BYTES_MAX = 256 * 1024;

/** @throws AppError `invalid_configuration`, which never contains a secret */
export async function readSideSettings(deps: SettingsDeps, side: SideName): Promise<SideSettings> {
  const { place, option, file } = side;
  if (file === undefined) {
    const config = configOf(deps, place);
    return { config, credentials: undefined, ignoresConfiguredEndpoint: false };
  }
  if (place.kind === 'directory') {
    throw refuse(
      `${option} is for a bucket, and ${place.directory} is a directory. Leave ${option} out.`,
    );
  }
  const given = await readEnvFile(option, file);
  const source = `${option} ${file}`;
  refuseUseless(source, given);
  try {
    return {
      config: configOf({ ...deps, env: given }, place),
      credentials: credentialsOf(source, given),
      ignoresConfiguredEndpoint: true,
    };
  } catch (error) {
    if (!isAppError(error, 'invalid_configuration')) throw error;
    const message = error.message.startsWith(source)
      ? error.message
      : `${source}: ${error.message}`;
    throw new AppError(error.code, message, { cause: error, issues: error.issues });
  }
}

function configOf({ loadConfig, env }: SettingsDeps, place: PlaceName): StoreSettings {
  // The arguments name the stores, so `OBJECT_STORE` of the environment does not count.
  const config = loadConfig({ ...env, OBJECT_STORE: 'filesystem' }, 'command');
  if (place.kind === 'directory') {
    return { ...config, store: { kind: 'filesystem' }, dataDirectory: place.directory };
  }
  const { bucket, prefix } = place;
  const where = { bucket, prefix, publicEndpoint: undefined };
  return { ...config, store: { kind: 's3', ...where, ...config.s3Access } };
}

async function readEnvFile(option: string, file: string): Promise<Environment> {
  try {
    const bytes = await readPlainFile(file, ENV_BYTES_MAX);
    if (bytes !== undefined) return parseEnv(bytes.toString());
  } catch (error) {
    if (isAppError(error)) throw refuse(`${option} ${error.message}`);
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw refuse(`${option} ${file}: ${why}. Name a file with lines such as S3_REGION=eu-west-1.`);
  }
  throw refuse(
    `${option} ${file}: it has more than ${ENV_BYTES_MAX} bytes. Name a file of settings.`,
  );
}

/**
 * Refuses unknown names. Otherwise a default would replace a setting with a mistyped name, such as AWS for the
 * endpoint.
 */
function refuseUseless(source: string, given: Environment): void {
  const known = [...S3_SETTINGS, ...KEY_SETTINGS];
  if (!known.some((name) => given[name]?.trim())) {
    throw refuse(`${source} has none of the settings of a bucket: ${known.join(', ')}.`);
  }
  const others = ['S3_BUCKET', 'S3_PREFIX', 'S3_PRIVATE_BUCKET', 'S3_PUBLIC_ENDPOINT'];
  const wrong = Object.keys(given).find(
    (name) => name.startsWith('S3_') && ![...known, ...others].includes(name),
  );
  if (wrong !== undefined) {
    throw refuse(
      `${source} has ${wrong}, which is not a setting of a bucket. Settings: ${known.join(', ')}.`,
    );
  }
}

function credentialsOf(source: string, given: Environment): S3StoreOptions['credentials'] {
  const [id, secret, token] = KEY_SETTINGS.map((name) => given[name]?.trim() || undefined);
  if (id !== undefined && secret !== undefined) {
    const key = { accessKeyId: id, secretAccessKey: secret };
    return token === undefined ? key : { ...key, sessionToken: token };
  }
  if (id !== undefined || secret !== undefined) {
    const missing = id === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
    throw refuse(`${source} has one half of an access key. Add ${missing} to it.`);
  }
  if (given.AWS_PROFILE?.trim()) {
    throw refuse(
      `${source} has AWS_PROFILE, which cannot count for one side only. Put ${KEY_SETTINGS[0]} and ${KEY_SETTINGS[1]} into it.`,
    );
  }
  if (given.S3_ENDPOINT?.trim()) {
    throw refuse(
      `${source} has S3_ENDPOINT and no access key, so that server would receive requests with the keys of another one. Put ${KEY_SETTINGS[0]} and ${KEY_SETTINGS[1]} into it.`,
    );
  }
  return undefined;
}

function refuse(sentence: string): AppError {
  return new AppError('invalid_configuration', sentence);
}
