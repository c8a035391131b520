import { ARCH, CURRENT_VERSION, type DialectAddress, type JsonSchema } from '../dialect-address.ts';

/** Without a format, `@hey-api/openapi-ts` takes text/yaml for the bytes of a file, and its types say Blob. */
const YAML: JsonSchema = { type: 'string', format: 'yaml' };

/** See `electron.ts`. */
export const ELECTRON_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'getElectronUpdateInfo',
    summary: 'The update document of electron-updater',
    description: '"No update" is a document too: electron-updater treats 204 and 404 as errors.',
    path: '{document}',
    parameters: {
      document: {
        description:
          'latest.yml (Windows), latest-mac.yml, latest-linux.yml, latest-linux-arm64.yml; with the name of another channel in the place of `latest` for this channel.',
        example: 'latest.yml',
      },
    },
    query: { current_version: CURRENT_VERSION, arch: ARCH },
    headers: {
      'x-current-version': { ...CURRENT_VERSION, description: 'As current_version in the query.' },
    },
    documents: { 'text/yaml': YAML },
    errors: ['unknown_arch'],
  },
];
