import { CURRENT_VERSION, type DialectAddress, jsonObject, TEXT } from '../dialect-address.ts';

const FILE = { url: { type: 'string', format: 'uri' }, signature: TEXT } as const;
const RELEASE = {
  version: TEXT,
  notes: TEXT,
  pub_date: { type: 'string', format: 'date-time' },
} as const;

const MACHINE = {
  target: {
    description: 'windows, darwin, linux, or a target of the application: darwin-universal.',
    example: 'windows',
  },
  arch: { description: 'x86_64, aarch64, i686 or armv7.', example: 'x86_64' },
  current_version: CURRENT_VERSION,
};
const BUNDLE_TYPE = { description: 'app, appimage, deb, msi, nsis or rpm.', example: 'nsis' };
const UPDATE = {
  documents: { 'application/json': jsonObject({ ...RELEASE, ...FILE }) },
  hasNoUpdate: true,
  errors: ['invalid_version', 'unknown_platform', 'unknown_arch', 'unknown_format'],
} as const;

/** See `tauri.ts`. */
export const TAURI_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'getTauriLatest',
    summary: 'The update of all Tauri clients, by machine',
    path: 'latest.json',
    query: { current_version: CURRENT_VERSION },
    documents: {
      'application/json': jsonObject({
        ...RELEASE,
        platforms: { type: 'object', additionalProperties: jsonObject(FILE) },
      }),
    },
    hasNoUpdate: true,
    errors: ['invalid_version'],
  },
  {
    operation: 'getTauriUpdate',
    summary: 'The update of one Tauri client',
    path: '{target}/{arch}/{current_version}',
    parameters: MACHINE,
    query: { bundle_type: BUNDLE_TYPE },
    ...UPDATE,
  },
  {
    operation: 'getTauriUpdateOfBundle',
    summary: 'The update of one Tauri client that states its bundle type',
    path: '{target}/{arch}/{current_version}/{bundle_type}',
    parameters: { ...MACHINE, bundle_type: BUNDLE_TYPE },
    ...UPDATE,
  },
];
