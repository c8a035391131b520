import { type Format, parseArch, parsePlatform } from '../domain/platform.ts';
import { MINISIGN } from '../domain/signature.ts';
import type { UpdateQuery } from '../domain/update-query.ts';
import { parseClientVersion } from '../domain/version.ts';
import { AppError } from '../errors.ts';
import {
  commonFields,
  NO_CONTENT,
  type PollOffer,
  type PollProtocol,
  type ProtocolRequest,
  type ProtocolResponse,
  type Question,
} from './protocol.ts';
import { describeTauriSetUp } from './tauri-set-up.ts';

/**
 * Tauri 2's updater, dynamic server.
 *
 * `GET {base}/{target}/{arch}/{current_version}[/{bundle_type}]`: 204 for "no update", else the JSON below. A
 * client that does not know its bundle type sends `unknown`; a client that does not know the variable sends
 * it unreplaced. The signature is the build's own `.sig` file, served verbatim. A build without a signature
 * is never offered, because the client would refuse it.
 */
export const tauri: PollProtocol = {
  shape: 'poll',
  name: 'tauri',
  title: 'Tauri 2 updater (dynamic server)',
  takesPost: false,
  varyHeaders: [],
  formatsFor: (platform) => FORMATS_BY_PLATFORM[platform],
  signatureScheme: MINISIGN,
  osGate: 'server',
  parseRequest,
  describeSetUp: describeTauriSetUp,
  renderOffer,
  renderNoUpdate: () => NO_CONTENT,
};

/**
 * The formats for a client that does not state its bundle type. On Linux only AppImage: a client that was installed
 * from an AppImage refuses other formats, and other clients refuse an AppImage.
 */
const FORMATS_BY_PLATFORM: Readonly<Record<UpdateQuery['platform'], readonly Format[]>> = {
  windows: ['nsis', 'msi'],
  macos: ['tar.gz'],
  linux: ['appimage'],
};

/** Formats by Tauri's names of its bundle types. */
const FORMATS_BY_BUNDLE: Readonly<Record<string, Format>> = {
  app: 'tar.gz',
  appimage: 'appimage',
  deb: 'deb',
  msi: 'msi',
  nsis: 'nsis',
  rpm: 'rpm',
};
const NOT_STATED = new Set(['', 'unknown', '{{bundle_type}}']);

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [target, arch, current, bundle, ...rest] = request.path;
  if (target === undefined || arch === undefined || current === undefined || rest.length > 0) {
    return undefined;
  }
  const platform = parsePlatform(target, '/target');
  const bundleType = bundle ?? request.query.bundle_type ?? '';
  return {
    document: '',
    query: {
      application: request.application,
      channel: request.channel,
      currentVersion: parseClientVersion(current),
      platform,
      arch: parseArch(arch),
      formats: NOT_STATED.has(bundleType.toLowerCase())
        ? FORMATS_BY_PLATFORM[platform]
        : [parseBundle(bundleType)],
      osGate: tauri.osGate,
      ...commonFields(request),
      purpose: 'update',
      signatureScheme: tauri.signatureScheme,
    },
  };
}

/** @throws AppError `unknown_format` */
function parseBundle(word: string): Format {
  const name = word.toLowerCase();
  const format = Object.hasOwn(FORMATS_BY_BUNDLE, name) ? FORMATS_BY_BUNDLE[name] : undefined;
  if (format !== undefined) return format;
  const known = Object.keys(FORMATS_BY_BUNDLE).join(', ');
  const detail = `${JSON.stringify(word.slice(0, 64))} is not a known bundle type; use ${known}, or unknown.`;
  throw new AppError('unknown_format', detail, { issues: [{ pointer: '/bundle_type', detail }] });
}

function renderOffer({ release, artifact, fileUrl }: PollOffer): ProtocolResponse {
  const signature = artifact.signatures.find(({ scheme }) => scheme === MINISIGN);
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({
      version: release.version,
      notes: release.notes.und ?? '',
      pub_date: release.releasedAt,
      url: fileUrl(release.version, artifact.filename),
      signature: signature?.value ?? '',
    }),
  };
}
