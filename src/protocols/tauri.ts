import { type Format, parseArch, parsePlatform } from '../domain/platform.ts';
import { MINISIGN } from '../domain/signature.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { parseClientVersion } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import {
  commonFields,
  type FeedAnswer,
  type FeedRequest,
  type FeedResponse,
  type Protocol,
} from './protocol.ts';

/**
 * Tauri 2's updater, dynamic answer.
 *
 * `GET {base}/{target}/{arch}/{current_version}[/{bundle_type}]`: 204 for "nothing newer", else the JSON
 * below. A client that does not know its bundle type says `unknown`, and one that does not know the
 * variable sends it as it stands in the configuration. The signature is the build's own `.sig` file, carried verbatim; a build without one is never
 * offered, since the client would refuse it.
 */
export const tauri: Protocol = {
  name: 'tauri',
  title: 'Tauri 2 updater (dynamic server)',
  formatsFor: (platform) => FORMATS_BY_PLATFORM[platform],
  signatureScheme: MINISIGN,
  parseRequest,
  renderAnswer,
};

/**
 * What a client that does not state its bundle type can install. On Linux that is an AppImage: a client
 * installed from one refuses the others, and so it is the other way round.
 */
const FORMATS_BY_PLATFORM: Readonly<Record<UpdateQuery['platform'], readonly Format[]>> = {
  windows: ['nsis', 'msi'],
  macos: ['tar.gz'],
  linux: ['appimage'],
};

/** What Tauri calls its bundles. */
const FORMATS_BY_BUNDLE: Readonly<Record<string, Format>> = {
  app: 'tar.gz',
  appimage: 'appimage',
  deb: 'deb',
  msi: 'msi',
  nsis: 'nsis',
  rpm: 'rpm',
};
const NOT_STATED = new Set(['', 'unknown', '{{bundle_type}}']);

function parseRequest(request: FeedRequest): UpdateQuery | undefined {
  const [target, arch, current, bundle, ...rest] = request.path;
  if (target === undefined || arch === undefined || current === undefined || rest.length > 0) {
    return undefined;
  }
  const platform = parsePlatform(target, '/target');
  const bundleType = bundle ?? request.query.bundle_type ?? '';
  return {
    application: request.application,
    channel: request.channel,
    currentVersion: parseClientVersion(current),
    platform,
    arch: parseArch(arch),
    formats: NOT_STATED.has(bundleType.toLowerCase())
      ? FORMATS_BY_PLATFORM[platform]
      : [parseBundle(bundleType)],
    osGate: 'server',
    ...commonFields(request),
    purpose: 'update',
    signatureScheme: tauri.signatureScheme,
  };
}

/** @throws AppError `unknown_format` */
function parseBundle(word: string): Format {
  const name = word.toLowerCase();
  const format = Object.hasOwn(FORMATS_BY_BUNDLE, name) ? FORMATS_BY_BUNDLE[name] : undefined;
  if (format !== undefined) return format;
  const known = Object.keys(FORMATS_BY_BUNDLE).join(', ');
  const detail = `${JSON.stringify(word.slice(0, 64))} is no bundle type known here; use ${known}, or unknown.`;
  throw new AppError('unknown_format', detail, { issues: [{ pointer: '/bundle_type', detail }] });
}

function renderAnswer({ offered, fileUrl }: FeedAnswer): FeedResponse {
  if (offered === undefined) return { status: 204, contentType: '', body: '' };
  const { release, artifact } = offered;
  const signature = artifact.signatures.find(({ scheme }) => scheme === MINISIGN);
  return {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify({
      version: release.version,
      notes: release.notes.und ?? '',
      pub_date: release.releasedAt,
      url: fileUrl(artifact.filename),
      signature: signature?.value ?? '',
    }),
  };
}
