import { type DialectAddress, TEXT } from '../dialect-address.ts';

/** See `omaha.ts`. */
export const OMAHA_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'checkWithOmaha',
    summary: 'Omaha 3 (Google Update and updaters derived from it)',
    description: 'The answer has the form of the question: XML (3.0) or JSON (3.1).',
    path: 'v1/update',
    query: {
      appid: { description: 'The application in the request that is asked about.', example: 'app' },
      format: { description: 'The format of the installed package.', example: 'nsis' },
    },
    body: {
      // The first type is text/plain, because the documentation page would wrap a text/xml body into an element.
      types: ['text/plain', 'text/xml', 'application/json'],
      example:
        '<request protocol="3.0"><os platform="win" arch="x64" version="10.0"/><app appid="desktop" version="1.0.0"><updatecheck/></app></request>',
    },
    documents: {
      'text/xml': TEXT,
      'application/json': {
        type: 'string',
        description: "JSON behind the line )]}', as Omaha's clients expect it.",
        pattern: "^\\)\\]\\}'\\n\\{",
      },
    },
    errors: ['malformed_json', 'invalid_version', 'unknown_format', 'body_too_large'],
  },
];
