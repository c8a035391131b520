import type { ErrorCode } from '../../core/errors.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import type { DialectAddress } from '../../updaters/dialect-address.ts';
import type { Protocol } from '../../updaters/protocol.ts';
import {
  FILE_RESPONSES,
  NOT_MODIFIED,
  type Operation,
  parametersIn,
  RANGE_HEADERS,
  REDIRECT,
} from '../documentation/operation.ts';
import { errorResponses, FROM_CATALOG } from '../http/error-responses.ts';

/** The operations of the feeds in the OpenAPI document: the documents of each dialect, and the files of all dialects. */

const TAG = 'feeds';
const BELOW = '/feeds/{app}/{channel}';

/** The facts that clients of every dialect may state. */
const CLIENT = parametersIn('query', {
  installation_id: {
    description: 'An anonymous id of the installation, for staged rollouts.',
    example: '4f6d0c2e-6a1b-4c0e-9d57-8a0f3b1c2d4e',
  },
  os_version: { description: "The version of the client's system.", example: '10.0.19045' },
});

/** Feeds name the same address of a file to all clients, so only the client can add its id. */
const FILE_CLIENT = parametersIn('query', {
  installation_id: {
    description:
      'The id that the client sends to the feed; also as the header `x-installation-id`. The service counts downloads by it, and does not store it. Without it and without a token, downloads of clients that share a network address may count as not known.',
    example: '4f6d0c2e-6a1b-4c0e-9d57-8a0f3b1c2d4e',
  },
});

const DOCUMENT_ERRORS = [
  'invalid_request',
  'not_entitled',
  'unknown_application',
  'unknown_channel',
  'unknown_file',
  ...FROM_CATALOG,
] as const;
/** Omaha answers an unknown application or channel in its own words. A POST reads no stored file. */
const POST_ERRORS = [
  'invalid_request',
  'not_entitled',
  'unknown_file',
  'catalog_unavailable',
  'overloaded',
] as const;
const FILE_ERRORS = [
  ...DOCUMENT_ERRORS,
  'invalid_version',
  'unknown_version',
  'release_withdrawn',
  'artifact_mismatch',
  'range_not_satisfiable',
  'precondition_failed',
] as const satisfies readonly ErrorCode[];

/** @param application the example of an application */
export function feedOperations(
  application: string,
  protocols: readonly Protocol[],
): readonly Operation[] {
  const feed = parametersIn('path', {
    app: { example: application },
    channel: { example: DEFAULT_CHANNEL },
  });
  return [
    ...protocols.flatMap(({ name, addresses }) =>
      addresses.map((address) => documentOperation(`${BELOW}/${name}`, feed, address)),
    ),
    ...fileOperations(feed, protocols),
  ];
}

function documentOperation(
  below: string,
  feed: Operation['parameters'],
  address: DialectAddress,
): Operation {
  const { operation: operationId, summary, description, path, body, documents, errors } = address;
  const isPost = body !== undefined;
  return {
    method: isPost ? 'post' : 'get',
    path: `${below}/${path}`,
    operationId,
    summary,
    description,
    tag: TAG,
    parameters: [
      ...feed,
      ...parametersIn('path', address.parameters),
      ...parametersIn('query', address.query),
      ...CLIENT,
      ...parametersIn('header', address.headers),
    ],
    body,
    responses: {
      ...(documents === undefined ? { 302: REDIRECT } : { 200: describeDocuments(documents) }),
      ...(address.hasNoUpdate === true ? { 204: { description: 'No update.' } } : {}),
      ...(isPost || documents === undefined ? {} : { 304: NOT_MODIFIED }),
      ...errorResponses(...(isPost ? POST_ERRORS : DOCUMENT_ERRORS), ...errors),
    },
  };
}

function describeDocuments(documents: NonNullable<DialectAddress['documents']>) {
  const content = Object.entries(documents).map(([type, schema]) => [type, { schema }]);
  return { description: "The dialect's document.", content: Object.fromEntries(content) };
}

/** The addresses of files are alike in all dialects. */
function fileOperations(
  feed: Operation['parameters'],
  protocols: readonly Protocol[],
): readonly Operation[] {
  const names = protocols.map(({ name }) => name);
  const titles = protocols.map(({ name, title }) => `${name} (${title})`).join(', ');
  const protocol = {
    description: `The dialect: ${titles}.`,
    example: 'electron',
    schema: { type: 'string', enum: names },
  };
  const file = {
    method: 'get',
    tag: TAG,
    description:
      'Redirects to a presigned URL. The service itself answers several ranges, ranges with an access token and ranges with If-Range.',
    responses: { ...FILE_RESPONSES, 302: REDIRECT, ...errorResponses(...FILE_ERRORS) },
  } as const;
  const parametersOf = (named: Parameters<typeof parametersIn>[1]) => [
    ...feed,
    ...parametersIn('path', { protocol, ...named }),
    ...FILE_CLIENT,
    ...RANGE_HEADERS,
  ];
  return [
    {
      ...file,
      path: `${BELOW}/{protocol}/{version}/{filename}`,
      operationId: 'getReleaseFile',
      summary: 'A file of a release',
      parameters: parametersOf({
        version: { example: '1.0.0' },
        filename: { example: 'App-1.0.0-x64-Setup.exe' },
      }),
    },
    {
      ...file,
      path: `${BELOW}/{protocol}/{filename}`,
      operationId: 'getNamedReleaseFile',
      summary: 'A file of a release, whose name contains the version',
      parameters: parametersOf({
        filename: { example: 'App-1.0.0-full.nupkg' },
      }),
    },
  ];
}
