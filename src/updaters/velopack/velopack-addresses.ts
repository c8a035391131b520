import { CURRENT_VERSION, type DialectAddress, jsonObject, TEXT } from '../dialect-address.ts';

const ASSETS = jsonObject({
  Assets: {
    type: 'array',
    items: jsonObject({
      PackageId: TEXT,
      Version: TEXT,
      Type: { type: 'string', enum: ['Full', 'Delta'] },
      FileName: TEXT,
      SHA1: TEXT,
      SHA256: TEXT,
      Size: { type: 'integer' },
      NotesMarkdown: TEXT,
      NotesHTML: TEXT,
    }),
  },
});

const NAME = {
  description: "Velopack's channel, which vpk pack wrote into the application.",
  example: 'win',
};
const ARCH = { description: 'The architecture of the system, as in .NET.', example: 'x64' };
const LOCAL = { localVersion: CURRENT_VERSION };

const MIGRATION = {
  query: { ...LOCAL, arch: ARCH },
  documents: { 'text/plain': TEXT },
  errors: ['invalid_version'],
} as const;

/** See `velopack.ts`. */
export const VELOPACK_ADDRESSES: readonly DialectAddress[] = [
  {
    operation: 'getVelopackReleases',
    summary: 'The packages for Velopack',
    path: 'releases.{name}.json',
    parameters: { name: NAME },
    query: {
      ...LOCAL,
      arch: ARCH,
      os: { description: 'The operating system, as in the C# library.', example: 'windows' },
      rid: { description: 'The runtime identifier of .NET.', example: 'win-x64' },
    },
    documents: { 'application/json': ASSETS },
    errors: ['unknown_platform'],
  },
  {
    operation: 'getVelopackMigration',
    summary: 'The packages for an application that moves from Squirrel to Velopack',
    path: 'RELEASES',
    ...MIGRATION,
  },
  {
    operation: 'getVelopackMigrationOf',
    summary: "The same, for one of Velopack's channels",
    path: 'RELEASES-{name}',
    parameters: { name: NAME },
    ...MIGRATION,
  },
];
