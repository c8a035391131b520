import type { ErrorCode } from '../../core/errors.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import { jsonObject, TEXT } from '../../updaters/dialect-address.ts';
import {
  FILE_RESPONSES,
  NOT_MODIFIED,
  type Operation,
  parametersIn,
  RANGE_HEADERS,
  REDIRECT,
} from '../documentation/operation.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';

/** The operations of the signed metadata in the OpenAPI document (TUF specification 1.0.31, sections 4 and 5). */

const METADATA = jsonObject({
  signatures: { type: 'array', items: jsonObject({ keyid: TEXT, sig: TEXT }) },
  signed: jsonObject({
    _type: TEXT,
    spec_version: TEXT,
    version: { type: 'integer', minimum: 1 },
    expires: { type: 'string', format: 'date-time' },
  }),
});

/** The part of a manifest that every manifest has: `manifests/` in the package describes the whole. */
const MANIFEST = jsonObject({
  signed: jsonObject({
    application: TEXT,
    version: TEXT,
    artifacts: {
      type: 'array',
      items: jsonObject({ filename: TEXT, sha256: TEXT, size: { type: 'integer' } }),
    },
  }),
});

const METADATA_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'unknown_application',
  'unknown_file',
  ...FROM_CATALOG,
];
const CHANNEL_ERRORS = ['not_entitled', 'unknown_channel'] as const;
const TARGET_ERRORS = [
  ...CHANNEL_ERRORS,
  'unknown_version',
  'release_withdrawn',
] as const satisfies readonly ErrorCode[];
const FILE_ERRORS = [
  ...TARGET_ERRORS,
  'artifact_mismatch',
  'range_not_satisfiable',
  'precondition_failed',
] as const satisfies readonly ErrorCode[];

const VERSION = {
  description: 'The number of the metadata.',
  example: 1,
  schema: { type: 'integer', minimum: 1 },
};
const CHANNEL = { example: DEFAULT_CHANNEL };

/** @param application the example of an application */
export function tufOperations(application: string): readonly Operation[] {
  const app = { example: application };
  const json = (
    operationId: string,
    summary: string,
    path: string,
    parameters: Parameters<typeof parametersIn>[1] = {},
    errors: readonly ErrorCode[] = [],
  ): Operation => ({
    method: 'get',
    path: `/tuf/{app}/${path}`,
    operationId,
    summary,
    tag: 'feeds',
    parameters: parametersIn('path', { app, ...parameters }),
    responses: {
      200: {
        description: 'The signed document.',
        content: { 'application/json': { schema: METADATA } },
      },
      304: NOT_MODIFIED,
      ...errorResponses(...METADATA_ERRORS, ...errors),
    },
  });
  const version = { version: VERSION };
  return [
    json('getTimestamp', 'The newest timestamp', 'timestamp.json'),
    json('getRoot', 'A root of trust', '{version}.root.json', version),
    json('getTargets', 'The keys of the channels', '{version}.targets.json', version),
    json('getSnapshot', 'A snapshot', '{version}.snapshot.json', version),
    json(
      'getChannelTargets',
      'The releases of a channel',
      '{version}.channel-{channel}.json',
      { ...version, channel: CHANNEL },
      CHANNEL_ERRORS,
    ),
    ...targetOperations(app),
  ];
}

function targetOperations(app: { readonly example: string }): readonly Operation[] {
  const target = {
    app,
    target_app: { description: 'The same as app: the names of targets begin with it.', ...app },
    channel: CHANNEL,
    version: { description: 'The version of the release.', example: '1.0.0' },
    sha256: {
      description: 'The digest of the target, in hex.',
      example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
  };
  const below = '/tuf/{app}/targets/{target_app}/{channel}/{version}';
  return [
    {
      method: 'get',
      path: `${below}/{sha256}.{number}.json`,
      operationId: 'getSignedManifest',
      summary: 'The manifest of a release',
      tag: 'feeds',
      parameters: parametersIn('path', {
        ...target,
        number: { ...VERSION, description: 'The number of the manifest.' },
      }),
      responses: {
        200: {
          description: 'The manifest.',
          content: { 'application/json': { schema: MANIFEST } },
        },
        304: NOT_MODIFIED,
        ...errorResponses(...METADATA_ERRORS, ...TARGET_ERRORS),
      },
    },
    {
      method: 'get',
      path: `${below}/{sha256}.{filename}`,
      operationId: 'getSignedFile',
      summary: 'A file that a manifest names',
      description: 'Redirects to a presigned URL, as the addresses of files in the feeds do.',
      tag: 'feeds',
      parameters: [
        ...parametersIn('path', { ...target, filename: { example: 'App-1.0.0-x64-Setup.exe' } }),
        ...RANGE_HEADERS,
      ],
      responses: {
        ...FILE_RESPONSES,
        302: REDIRECT,
        ...errorResponses(...METADATA_ERRORS, ...FILE_ERRORS),
      },
    },
  ];
}
