import { AppError } from '../../core/errors.ts';
import { parseOsVersion } from '../../domain/os-version.ts';
import {
  type Arch,
  archOf,
  type Format,
  type Platform,
  parseFormat,
  platformOf,
} from '../../domain/platform.ts';
import { parseLooseVersion, type Version } from '../../domain/version.ts';
import { anyMac } from '../any-mac.ts';
import {
  commonQuery,
  type PollOffer,
  type PollProtocol,
  type ProtocolRequest,
  type ProtocolResponse,
  type Question,
} from '../protocol.ts';
import { OMAHA_ADDRESSES } from './omaha-addresses.ts';
import {
  type CheckAnswer,
  type OmahaApp,
  type OmahaRequest,
  type OmahaSystem,
  parseOmahaRequest,
  renderOmaha,
} from './omaha-messages.ts';
import { describeOmahaSetUp } from './omaha-set-up.ts';

/**
 * Omaha 3: Google Update, and updaters that speak its protocol.
 *
 * `POST {base}/v1/update`, in XML (3.0) or JSON (3.1); the answer has the form of the question. The client downloads
 * `codebase` + `name`, compares size and SHA-256, and runs the file.
 *
 * One request may have several applications, and the answer has one element for each. The address names the application
 * of this service. So the service answers the check of only one application in the request: the application that
 * `?appid=` in the address names, else the first application with a check. Any other check gets
 * `error-unknownApplication`. The service accepts pings and events, and stores nothing of them.
 *
 * Omaha's versions have four numbers, and a release's version has three, so the fourth number of a client does not
 * count.
 */
export const omaha: PollProtocol = {
  shape: 'poll',
  name: 'omaha',
  title: 'Omaha 3 (Google Update and updaters derived from it)',
  takesPost: true,
  addresses: OMAHA_ADDRESSES,
  varyHeaders: [],
  formatsFor: (platform) => FORMATS_BY_PLATFORM[platform],
  takesAnyInstaller: true,
  signatureScheme: null,
  osGate: 'server',
  mayOmit: () => ['arch'],
  parseRequest,
  describeSetUp: describeOmahaSetUp,
  renderOffer,
  renderNoUpdate: ({ document }) => render(JSON.parse(document), { status: 'noupdate' }),
  renderNotFound,
};

/**
 * On Linux, the only format is AppImage, because a client that was installed from a package does not state the format
 * of this package.
 */
const FORMATS_BY_PLATFORM: Readonly<Record<Platform, readonly Format[]>> = {
  windows: ['nsis', 'msi'],
  macos: ['dmg', 'pkg', 'zip'],
  linux: ['appimage'],
};

/** The facts that the answer depends on beside the decision; `Question.document` is their JSON. */
interface Asked extends Pick<OmahaRequest, 'form' | 'protocol' | 'apps'> {
  /** The index in `apps` of the application whose check the service answers; -1: none. */
  readonly at: number;
  /** Milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

function parseRequest(request: ProtocolRequest): Question | undefined {
  const { path, body, query } = request;
  if (path.join('/') !== 'v1/update' || body === undefined) return undefined;
  const parsed = parseOmahaRequest(body);
  const asked = askedOf(parsed, request);
  const app = parsed.apps[asked.at];
  const machine = parseMachine(parsed.system, app !== undefined, query);
  const isAnyMac = app !== undefined && machine.platform === 'macos' && machine.arch === null;
  return {
    document: JSON.stringify(asked),
    ...(isAnyMac ? { machines: anyMac(machine.formats) } : {}),
    isPersonal: true,
    isReport: app === undefined,
    query: {
      ...commonQuery(request, omaha),
      currentVersion: app === undefined ? null : parseAppVersion(app.version),
      ...machine,
      ...clientFields(request, parsed, app),
    },
  };
}

function askedOf(
  { form, protocol, apps }: OmahaRequest,
  { query, receivedAt = 0 }: ProtocolRequest,
): Asked {
  return { form, protocol, apps, at: findAsked(apps, query.appid), receivedAt };
}

/** Omaha's identifiers are case-insensitive. */
function findAsked(apps: readonly OmahaApp[], wanted: string | undefined): number {
  const isWanted = ({ id }: OmahaApp): boolean =>
    id !== '' && (wanted === undefined || id.toLowerCase() === wanted.toLowerCase());
  return apps.findIndex((app) => app.check !== undefined && isWanted(app));
}

function clientFields(request: ProtocolRequest, { userId, system }: OmahaRequest, app?: OmahaApp) {
  const common = commonQuery(request, omaha);
  return {
    installationId: common.installationId ?? (userId || null),
    osVersion: common.osVersion ?? osVersionOf(system),
    isManual: app?.check?.isManual === true,
    allowDowngrade: app?.check?.allowsDowngrade === true,
  };
}

/**
 * The version of an application; null for the version 0, which means that the application is not installed yet.
 *
 * @throws AppError `invalid_version`, because a client whose version cannot be compared would install the same offer
 *   again and again
 */
function parseAppVersion(text: string): Version | null {
  if (/^\s*[0.]*\s*$/.test(text)) return null;
  const version = parseLooseVersion(text);
  if (version !== undefined) return version;
  const detail = `${JSON.stringify(text.slice(0, 80))} is not a version; write it like 1.4.0 or 1.4.0.0.`;
  throw new AppError('invalid_version', detail, { issues: [{ pointer: '/app/version', detail }] });
}

interface OmahaMachine {
  readonly platform: Platform;
  readonly arch: Arch | null;
  readonly formats: readonly Format[];
}

/**
 * @param asks true when the client asks for an update; a client that only reports may leave out the system
 * @throws AppError `unsupported_platform`, and `unknown_format` for a format in the address
 */
function parseMachine(
  { platform: system, arch: stated, servicePack }: OmahaSystem,
  asks: boolean,
  query: ProtocolRequest['query'],
): OmahaMachine {
  const platform = SYSTEMS.get(system.toLowerCase()) ?? platformOf(system);
  if (platform === undefined && asks) {
    const detail = `There are no releases for the system ${JSON.stringify(system.slice(0, 40))}.`;
    throw new AppError('unsupported_platform', detail);
  }
  const known = platform ?? 'windows';
  const word = stated || (/^[\d.]+_(.+)$/.exec(servicePack)?.[1] ?? '');
  const arch = archOf(word);
  // For an architecture that no build can have, the answer is "no update", and not an error.
  const isWithoutBuilds = word !== '' && arch === undefined && word !== 'unknown';
  const usual = query.format ? [parseFormat(query.format)] : FORMATS_BY_PLATFORM[known];
  const formats = isWithoutBuilds ? [] : usual;
  return { platform: known, arch: arch === 'universal' ? null : (arch ?? null), formats };
}

/** Words of Omaha for systems that `platformOf` does not know. */
const SYSTEMS: ReadonlyMap<string, Platform> = new Map([
  ['mac os x', 'macos'],
  ['macosx', 'macos'],
]);

/** On macOS, older clients state the version in `sp`. */
function osVersionOf({ version, servicePack }: OmahaSystem): string | null {
  const stated = [version, servicePack].find((text) => parseOsVersion(text) !== undefined);
  return stated ?? null;
}

function renderOffer({ document, release, artifact, fileUrl }: PollOffer): ProtocolResponse {
  const { version } = release;
  const asked: Asked = JSON.parse(document);
  const check = asked.apps[asked.at]?.check;
  if (check === undefined || check.isDisabled || !hasPrefix(version, check.versionPrefix)) {
    return render(asked, { status: 'noupdate' });
  }
  const { format, size, sha256, filename } = artifact;
  const update = { version, url: fileUrl(version, filename), format, size, sha256 };
  return render(asked, { status: 'ok', update });
}

/** True when a version begins with the numbers of a prefix. A prefix that ends with `$` must be the whole version. */
function hasPrefix(version: string, prefix: string): boolean {
  if (prefix === '') return true;
  const isWhole = prefix.endsWith('$');
  const wanted = prefix.replace(/\.?\$?$/, '').split('.');
  const numbers = version.split(/[-+]/, 1)[0]?.split('.') ?? [];
  // Missing numbers count as zero.
  const length = isWhole ? Math.max(wanted.length, numbers.length) : wanted.length;
  return Array.from({ length }, (_, at) => at).every(
    (at) => Number(wanted[at] ?? 0) === Number(numbers[at] ?? 0),
  );
}

/** @param known the answer to the check of the application at `asked.at`; undefined: there is no such application */
function render(asked: Asked, known: CheckAnswer | undefined): ProtocolResponse {
  const apps = asked.apps.map(({ id, check, hasPing, eventCount }, index) => {
    const answer = check !== undefined && index === asked.at ? known : undefined;
    const isUnknown = check !== undefined && answer === undefined;
    const found = isUnknown ? ('error-unknownApplication' as const) : ('ok' as const);
    const status = id === '' ? ('error-invalidAppId' as const) : found;
    return { id, status, hasPing, eventCount, check: answer };
  });
  return renderOmaha(asked, apps, asked.receivedAt);
}

function renderNotFound(
  request: ProtocolRequest,
  { code }: AppError,
): ProtocolResponse | undefined {
  const isSystem = code === 'unsupported_platform';
  if (!isSystem && code !== 'unknown_application' && code !== 'unknown_channel') return undefined;
  if (request.body === undefined) return undefined;
  const asked = askedOf(parseOmahaRequest(request.body), request);
  return render(asked, isSystem ? { status: 'error-osnotsupported' } : undefined);
}
