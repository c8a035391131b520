import path from 'node:path';
import type { FieldIssue } from '../../core/errors.ts';
import type { Secret } from '../../core/secret.ts';
import {
  bucketName,
  flag,
  httpUrl,
  oneOf,
  signingSecret,
  text,
} from '../../core/settings/kinds.ts';
import { type GivenSettings, issueOf, requireSettings } from '../../core/settings/rules.ts';
import {
  defineKind,
  defineSettings,
  optional,
  type ValuesOf,
  withDefault,
} from '../../core/settings/setting.ts';

export type StoreConfig =
  | { readonly kind: 'filesystem' }
  | ({
      readonly kind: 's3';
      readonly bucket: string;
      /** Without slashes at its ends; empty for no prefix. */
      readonly prefix: string;
      readonly publicEndpoint: string | undefined;
    } & S3Access);

/** The access to the bucket of the store, and to any other bucket into which a command writes. */
export interface S3Access {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly forcePathStyle: boolean;
}

const keyPrefix = defineKind(
  "path segments of letters, digits and ! _ . * ' ( ) -, separated by /",
  (value) => {
    const prefix = value.replace(/^\/+|\/+$/g, '');
    return prefix === '' || prefix.split('/').every(isKeySegment) ? prefix : undefined;
  },
);

function isKeySegment(segment: string): boolean {
  return /^[\w!.*'()-]+$/.test(segment) && segment !== '.' && segment !== '..';
}

export interface StoreSettings {
  readonly store: StoreConfig;
  /** For buckets other than the store. */
  readonly s3Access: S3Access;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly urlSigningSecret: Secret | undefined;
  /** Without a trailing slash; undefined: every file gets a presigned URL. */
  readonly publicFilesUrl: string | undefined;
  /** The bucket of everything that the service writes; undefined: the bucket of the releases. */
  readonly privateBucket: string | undefined;
}

const settings = {
  OBJECT_STORE: withDefault(
    oneOf(['filesystem', 's3']),
    'filesystem',
    'A directory on this machine, or a bucket',
  ),
  DATA_DIR: withDefault(
    text,
    './data',
    'The directory of the directory store and its secrets. On S3 it holds the last good catalog, from which a process starts while the store is down',
  ),
  URL_SIGNING_SECRET: optional(
    signingSecret,
    'Signs the download links of the directory store. Every replica needs the same one',
    { otherwise: 'created in `DATA_DIR`', example: 'at-least-32-characters-of-your-own' },
  ),
  S3_BUCKET: optional(
    bucketName,
    'The bucket of the releases. Required when `OBJECT_STORE` is `s3`',
    {
      example: 'releases',
    },
  ),
  S3_PRIVATE_BUCKET: optional(
    bucketName,
    'A bucket for everything that the service writes: accounts, sessions, messages, counts. See [privacy](../privacy.md)',
    { otherwise: '`S3_BUCKET`', example: 'releases-private' },
  ),
  S3_PREFIX: withDefault(
    keyPrefix,
    '',
    'Puts every object below this path, in a bucket that you share',
  ),
  S3_ENDPOINT: optional(httpUrl, 'The address of a store other than AWS', {
    otherwise: 'AWS',
    example: 'https://store.example.com',
  }),
  S3_PUBLIC_ENDPOINT: optional(
    httpUrl,
    'The address in download links, when clients need another address of the store than the service',
    { otherwise: '`S3_ENDPOINT`', example: 'https://downloads.example.com' },
  ),
  PUBLIC_FILES_URL: optional(
    httpUrl,
    'The address of a CDN for files that every client may have. The service then redirects downloads of these files to addresses that do not expire, so that the CDN can cache them. On S3 the CDN reads the bucket (below `S3_PREFIX`); with a directory store it reads the service. See [a CDN](cdn.md)',
    { otherwise: 'every download gets a presigned link', example: 'https://cdn.example.com' },
  ),
  S3_REGION: optional(text, 'The region of the bucket', {
    otherwise: '`AWS_REGION`, else `us-east-1`',
    example: 'eu-central-1',
  }),
  AWS_REGION: optional(text, 'The region when `S3_REGION` is not set', {
    otherwise: '`us-east-1`',
    example: 'eu-central-1',
  }),
  S3_FORCE_PATH_STYLE: optional(flag, 'Puts the bucket into the path instead of the host name', {
    otherwise: '`true` with `S3_ENDPOINT`, else `false`',
    example: 'true',
  }),
};

/** The place where releases and everything else are stored. */
export const storeSettings = defineSettings({
  title: 'The store',
  settings,
  findMissingForCommands,
  read: (env): StoreSettings => ({
    store: Object.freeze(storeOf(env)),
    s3Access: Object.freeze(s3AccessOf(env)),
    dataDirectory: path.resolve(env.DATA_DIR),
    urlSigningSecret: env.URL_SIGNING_SECRET,
    publicFilesUrl: env.PUBLIC_FILES_URL,
    privateBucket: env.OBJECT_STORE === 's3' ? env.S3_PRIVATE_BUCKET : undefined,
  }),
  withoutOthers: () => ({ privateBucket: undefined }),
});

function findMissingForCommands(given: GivenSettings): FieldIssue[] {
  if (given.OBJECT_STORE === undefined && given.S3_BUCKET !== undefined) {
    // Without this check, the command would use the directory, which may be empty, and never mention the bucket.
    return [
      issueOf(
        'OBJECT_STORE',
        'must be set when S3_BUCKET is set: s3, or filesystem to use DATA_DIR',
      ),
    ];
  }
  if (given.OBJECT_STORE !== 's3') return [];
  return requireSettings(given, ['S3_BUCKET'], 'when OBJECT_STORE is s3');
}

function storeOf(env: ValuesOf<typeof settings>): StoreConfig {
  if (env.OBJECT_STORE === 'filesystem') return { kind: 'filesystem' };
  return {
    kind: 's3',
    bucket: env.S3_BUCKET ?? '',
    prefix: env.S3_PREFIX,
    publicEndpoint: env.S3_PUBLIC_ENDPOINT,
    ...s3AccessOf(env),
  };
}

function s3AccessOf(env: ValuesOf<typeof settings>): S3Access {
  return {
    endpoint: env.S3_ENDPOINT,
    region: env.S3_REGION ?? env.AWS_REGION ?? 'us-east-1',
    // Stores other than AWS rarely have a host name for every bucket.
    forcePathStyle: env.S3_FORCE_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
  };
}
