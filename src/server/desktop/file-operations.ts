import { FILE_RESPONSES, type Operation, parametersIn } from '../documentation/operation.ts';
import { errorResponses } from '../http/error-responses.ts';

/** The operations of a directory store's links in the OpenAPI document. Clients get the links from other answers. */

const LINK = 'Take the whole address from another answer: the signature is for this file alone.';

const FILE = {
  app: { description: 'The application.', example: 'desktop' },
  object: {
    description: 'The digest of the file, which may have the number of the upload behind it.',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  filename: { example: 'App-1.0.0-x64-Setup.exe' },
};
const SIGNATURE = { example: 'f1b2b0b822cd15d6c15b0f00a08' };
const RANGE = parametersIn('header', {
  range: {
    description: '`bytes=…`, one range or several (RFC 9110, section 14). GET only.',
    example: 'bytes=0-1023',
  },
});
const RESPONSES = {
  ...FILE_RESPONSES,
  ...errorResponses(
    'invalid_link',
    'unknown_file',
    'precondition_failed',
    'range_not_satisfiable',
    'store_unavailable',
    'store_denied',
  ),
};

/** @param isPublic true when the service has public addresses of files */
export function fileOperations(isPublic: boolean): readonly Operation[] {
  const presigned: Operation = {
    method: 'get',
    path: '/files/apps/{app}/artifacts/{object}/{filename}',
    operationId: 'getFile',
    summary: 'The file behind a presigned URL',
    description: LINK,
    tag: 'files',
    parameters: [
      ...parametersIn('path', FILE),
      ...parametersIn('query', {
        expires: { description: 'Seconds since 1970.', example: '1795258800', isRequired: true },
        filename: { ...FILE.filename, isRequired: true },
        signature: { ...SIGNATURE, isRequired: true },
      }),
      ...RANGE,
    ],
    responses: RESPONSES,
  };
  const lasting: Operation = {
    ...presigned,
    path: '/files/public/{signature}/apps/{app}/artifacts/{object}/{filename}',
    operationId: 'getPublicFile',
    summary: 'The file behind a public link, which does not expire',
    parameters: [...parametersIn('path', { signature: SIGNATURE, ...FILE }), ...RANGE],
  };
  return isPublic ? [presigned, lasting] : [presigned];
}
