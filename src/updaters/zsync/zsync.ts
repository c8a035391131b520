import { AppError } from '../../core/errors.ts';
import { ZSYNC } from '../../domain/companion.ts';
import type { Reason } from '../../domain/decide-update.ts';
import { type Arch, archOf, parseArch } from '../../domain/platform.ts';
import { versionsInName } from '../../domain/version-in-name.ts';
import { fitsInLine, parseZsync, zsyncHeader } from '../../domain/zsync.ts';
import {
  commonQuery,
  filePath,
  type PollOffer,
  type PollProtocol,
  type ProtocolRequest,
  type ProtocolResponse,
  type Question,
} from '../protocol.ts';
import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { ZSYNC_ADDRESSES } from './zsync-addresses.ts';
import { describeZsyncSetUp, ZSYNC_ARCHES } from './zsync-set-up.ts';

/**
 * AppImages that update with zsync: AppImageUpdate, and zsync itself.
 *
 * The build writes the address `{base}/{name}.AppImage.zsync` into each AppImage. So the service answers this address
 * for ever, whatever the newest version is. The developer chooses the name, and the name states the architecture. A
 * name without an architecture means x64. `{base}/{name}.AppImage` redirects to the newest AppImage.
 *
 * The answer is the zsync file of the offered release with two other header lines:
 * - `URL` is the stable address of the AppImage of exactly this release, with its version. Without the version in the
 *   address, a client would mix two files when a release is published during its download.
 * - `Filename` is the requested name, so that the client updates the file that it knows.
 *
 * The client states nothing about itself. It compares the SHA-1 in the answer with the SHA-1 of its own file. So an
 * answer that describes the client's own file means "no update", and an answer with an older release causes a
 * downgrade. There is no answer that means "no update" to all clients. So the answer is 404 when the newest release
 * that the client may have is paused or yanked, has a `requires`, or has no zsync file. Both clients then report an
 * error, and leave the file as it is.
 */
export const zsync: PollProtocol = {
  shape: 'poll',
  name: 'zsync',
  title: 'AppImage zsync (AppImageUpdate, zsync)',
  takesPost: false,
  addresses: ZSYNC_ADDRESSES,
  // zsync also reads each header into 512 bytes, and a presigned address may be longer.
  keepsRedirects: true,
  varyHeaders: [],
  formatsFor: (platform) => (platform === 'linux' ? ['appimage'] : []),
  signatureScheme: null,
  osGate: 'server',
  mayOmit: () => ['version'],
  installsOlder: true,
  parseRequest,
  listStatic: listZsyncAddresses,
  describeSetUp: describeZsyncSetUp,
  readsFile: (artifact, document) =>
    document === APPIMAGE ? undefined : artifact.companions.find(({ kind }) => kind === ZSYNC),
  renderOffer,
  renderNoUpdate,
};

/** The document that redirects to the AppImage. Every other document is the name in the answer. */
const APPIMAGE = '';
const NAME = /^(.+\.AppImage)(\.zsync)?$/i;
/** In characters. A published name has at most 200 bytes. */
const NAME_LENGTH_MAX = 200;
/**
 * Names that are not allowed: a line break would add lines to the header, and the client refuses a name with a path.
 */
const NO_NAME = /[\p{Cc}\u2028\u2029/\\]|^\./u;

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [file = '', ...rest] = request.path;
  const [, name, suffix] = NAME.exec(file) ?? [];
  if (name === undefined || rest.length > 0) return undefined;
  if (name.length > NAME_LENGTH_MAX || NO_NAME.test(name)) return undefined;
  // A name with a version means the file of that version, and not the newest AppImage: a client that got its zsync file
  // elsewhere must not get another version.
  if (suffix === undefined && versionsInName(name).length > 0) return undefined;
  const { arch } = request.query;
  return {
    ...(suffix === undefined ? { document: APPIMAGE } : { document: name, isFreeText: true }),
    query: {
      ...commonQuery(request, zsync),
      currentVersion: null,
      // A person who follows the redirect downloads the AppImage, and updates no file.
      installsOlder: suffix !== undefined,
      platform: 'linux',
      arch: arch === undefined || arch === '' ? archInName(name) : parseArch(arch),
      formats: zsync.formatsFor('linux'),
    },
  };
}

/** The last architecture in the name. The name of the product stands in front, and may contain an architecture too. */
function archInName(name: string): Arch {
  const words = name.replace(/x86[_-]64/gi, 'x64').split(/[^A-Za-z0-9]+/);
  const arches = words.flatMap((word) => {
    const arch = archOf(word);
    // A lone number may be a part of a version, and universal is no architecture of an AppImage.
    return arch === undefined || arch === 'universal' || /^\d+$/.test(word) ? [] : [arch];
  });
  return arches.at(-1) ?? 'x64';
}

function renderOffer({ document, release, artifact, bytes, fileUrl }: PollOffer): ProtocolResponse {
  const location = fileUrl(release.version, artifact.filename);
  if (document === APPIMAGE) return { status: 302, headers: { location }, body: '' };
  if (bytes === undefined) {
    const detail = `${artifact.filename} of ${release.version} has no zsync file. Publish it again: publish makes one.`;
    throw new AppError('no_release', detail);
  }
  const stored = parseZsync(bytes);
  if (typeof stored === 'string') {
    throw new AppError('artifact_mismatch', `The zsync file of ${artifact.filename}: ${stored}.`);
  }
  const header = zsyncHeader([
    ...stored.fields.filter(([field]) => field !== 'Filename' && field !== 'URL'),
    ['Filename', document],
    // An address that is too long becomes relative: every feed of a channel has the files below its own address.
    ['URL', fitsInLine('URL', location) ? location : filePath(release.version, artifact.filename)],
  ]);
  return {
    status: 200,
    headers: { 'content-type': 'application/x-zsync' },
    body: joinBytes(new TextEncoder().encode(header), bytes.subarray(stored.checksumsAt)),
  };
}

function renderNoUpdate({ document, query }: Question, reason: Reason): undefined {
  if (document === APPIMAGE) return undefined;
  throw new AppError(
    'no_release',
    `${query.channel} of ${query.application} offers this client nothing (${reason}). A zsync client states no version, and installs whatever it gets. It may already have a newer release, so it is offered nothing older.`,
  );
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/**
 * Lists the names that developers probably wrote into their AppImages: the names that `slipway feeds` shows, and the
 * names of the files with and without their version. The publisher gives other names with `slipway export --also`.
 */
function listZsyncAddresses({
  builds,
  files,
}: Pick<StaticChannel, 'builds' | 'files'>): readonly StaticAddress[] {
  const own = files.filter(({ format, kind }) => format === 'appimage' && kind === undefined);
  const shown = ZSYNC_ARCHES.filter(([arch]) =>
    builds.some((build) => build.format === 'appimage' && build.arch === arch),
  ).map(([, word]) => `App-${word}.AppImage`);
  const named = own.map(({ filename, version }) => filename.replace(beforeVersion(version), ''));
  const fixed = [...new Set([...shown, ...named])];
  const versioned = own.map(({ filename }) => filename);
  return [
    ...fixed.map((name) => ({ path: [name] })),
    ...[...new Set([...fixed, ...versioned])].map((name) => ({ path: [`${name}.zsync`] })),
  ];
}

/** The version in a name, with the separator before it. */
function beforeVersion(version: string): RegExp {
  return new RegExp(`[-_. ]?v?${version.replace(/[.+]/g, '\\$&')}`);
}
