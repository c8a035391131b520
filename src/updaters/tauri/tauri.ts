import { AppError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import type { NamedMachine } from '../../domain/common-release.ts';
import { admittedArches } from '../../domain/compatible-arches.ts';
import { type Arch, type Format, parseArch, parsePlatform } from '../../domain/platform.ts';
import type { Artifact } from '../../domain/release.ts';
import { MINISIGN } from '../../domain/signature.ts';
import type { UpdateQuery } from '../../domain/update-query.ts';
import { parseClientVersion } from '../../domain/version.ts';
import {
  commonQuery,
  NO_CONTENT,
  type PollOffer,
  type PollProtocol,
  type ProtocolRequest,
  type ProtocolResponse,
  type Question,
} from '../protocol.ts';
import type { StaticAddress, StaticChannel } from '../static-address.ts';
import { TAURI_ADDRESSES } from './tauri-addresses.ts';
import { describeTauriSetUp } from './tauri-set-up.ts';

/**
 * Tauri 2's updater.
 *
 * The client sends GET to the addresses in its configuration, one after the other, until one answers with a 2xx. 204
 * means "no update" and ends the check. Any other status than 2xx leads to the next address; after the last one, the
 * client reports an error. It follows redirects, and accepts two kinds of JSON:
 *
 * - **For one client**, from `{base}/{target}/{arch}/{current_version}[/{bundle_type}]`: `url` and `signature` at the
 *   top. The client replaces the variables. A build that does not know its bundle type sends `unknown`; a client that
 *   does not know the variable sends the variable unreplaced. An application may set a target of its own, which
 *   replaces only `{target}`. Such a target is an operating system with an architecture, such as `darwin-universal`,
 *   and may end with a bundle type.
 * - **For all clients**, from `{base}/latest.json`: `platforms`, by `os-arch-installer` and `os-arch`. The client looks
 *   for the first name, then for the second. A client with a target of its own looks only for this target. The client
 *   looks for its name before it compares the versions. So a document without this name is an error, even when no
 *   version is newer. That is why the document has the name of every machine that the channel serves. All these
 *   machines must get the same release, see `findCommonRelease`; without such a release, the answer is 204. The client
 *   states its version only when its address ends with `?current_version={{current_version}}`; without it, the client
 *   gets no release with `requires`.
 *
 * The signature is the build's own `.sig` file. The service serves it unchanged, and never with another file or
 * version: newer clients compare the version with the signed version. The service never offers a build without a
 * signature, because the client would refuse it.
 */
export const tauri: PollProtocol = {
  shape: 'poll',
  name: 'tauri',
  title: 'Tauri 2 updater (dynamic server and latest.json)',
  takesPost: false,
  addresses: TAURI_ADDRESSES,
  varyHeaders: [],
  formatsFor: (platform) => FORMATS_BY_PLATFORM[platform],
  everyFormatFor: (platform) => INSTALLABLE[platform],
  signatureScheme: MINISIGN,
  osGate: 'server',
  parseRequest,
  describeSetUp: describeTauriSetUp,
  listStatic: listTauriAddresses,
  renderOffer,
  renderNoUpdate: () => NO_CONTENT,
};

/** The document for all clients. */
const LATEST = 'latest.json';

/**
 * The formats for a client that does not state its bundle type. On Linux, the only format is AppImage: a client that
 * was installed from an AppImage refuses other formats, and other clients refuse an AppImage.
 */
const FORMATS_BY_PLATFORM: Readonly<Record<UpdateQuery['platform'], readonly Format[]>> = {
  windows: ['nsis', 'msi'],
  macos: ['tar.gz'],
  linux: ['appimage'],
};

/** All formats that the client can install, with any bundle type. */
const INSTALLABLE: typeof FORMATS_BY_PLATFORM = {
  windows: ['nsis', 'msi'],
  macos: ['tar.gz'],
  linux: ['appimage', 'deb', 'rpm'],
};

/** The formats, by Tauri's names for its bundle types. */
const FORMATS_BY_BUNDLE: Readonly<Record<string, Format>> = {
  app: 'tar.gz',
  appimage: 'appimage',
  deb: 'deb',
  msi: 'msi',
  nsis: 'nsis',
  rpm: 'rpm',
};
/** Texts in the place of a bundle type that state no bundle type. */
const NOT_STATED = new Set(['', 'unknown', '{{bundle_type}}']);

/** The words that the client has for operating systems and architectures. */
const SYSTEMS: Readonly<Record<string, UpdateQuery['platform']>> = {
  windows: 'windows',
  darwin: 'macos',
  linux: 'linux',
};
const ARCHES: Readonly<Record<string, Arch>> = {
  x86_64: 'x64',
  aarch64: 'arm64',
  i686: 'ia32',
  armv7: 'armv7',
  universal: 'universal',
};

/** Architectures that the client knows, but for which no build can be published. */
const WITHOUT_BUILDS = new Set(['riscv64']);

function parseRequest(request: ProtocolRequest): Question | undefined {
  const [target, arch, current, bundle, ...rest] = request.path;
  if (target === LATEST && arch === undefined) return parseLatest(request);
  if (target === undefined || arch === undefined || current === undefined || rest.length > 0) {
    return undefined;
  }
  const own = parseTargetWord(target);
  const bundleType = own.bundle ?? bundle ?? request.query.bundle_type ?? '';
  const formats = NOT_STATED.has(bundleType.toLowerCase())
    ? FORMATS_BY_PLATFORM[own.platform]
    : [parseBundle(bundleType)];
  const isWithoutBuilds = own.arch === undefined && WITHOUT_BUILDS.has(arch);
  return {
    document: '',
    query: {
      ...commonQuery(request, tauri),
      currentVersion: parseClientVersion(current),
      platform: own.platform,
      ...(isWithoutBuilds
        ? { arch: null, formats: [] }
        : { arch: own.arch ?? parseArch(arch), formats }),
    },
  };
}

function parseLatest(request: ProtocolRequest): Question {
  const current = request.query.current_version ?? '';
  return {
    document: LATEST,
    machines: MACHINES,
    query: {
      ...commonQuery(request, tauri),
      currentVersion: current === '' ? null : parseClientVersion(current),
      platform: 'windows',
      arch: null,
      formats: null,
    },
  };
}

/** The target of an application with universal builds, as in the example of Tauri's own documents. */
const MACOS_UNIVERSAL: NamedMachine = {
  name: 'macos-universal',
  platform: 'macos',
  arch: 'universal',
  formats: FORMATS_BY_PLATFORM.macos,
};

/** The names that clients look for in `latest.json` by themselves. */
const USUAL_MACHINES = Object.entries(SYSTEMS).flatMap(
  ([system, platform]): readonly NamedMachine[] =>
    Object.entries(ARCHES).flatMap(([word, arch]) => [
      { name: `${system}-${word}`, platform, arch, formats: FORMATS_BY_PLATFORM[platform] },
      ...Object.entries(FORMATS_BY_BUNDLE)
        .filter(([, format]) => INSTALLABLE[platform].includes(format))
        .map(([bundle, format]) => ({
          name: `${system}-${word}-${bundle}`,
          platform,
          arch,
          formats: [format],
        })),
    ]),
);

const MACHINES: readonly NamedMachine[] = [...USUAL_MACHINES, MACOS_UNIVERSAL];

interface TargetWord {
  readonly platform: UpdateQuery['platform'];
  readonly arch: Arch | undefined;
  readonly bundle: string | undefined;
}

/**
 * Parses `darwin`, or a target that the application has set: `darwin-universal`, `windows-x86_64`, `linux-x86_64-deb`.
 * The words of such a target take precedence over the other variables, because the application chose the target.
 *
 * @throws AppError `unknown_platform`, `unknown_arch`, `unknown_format`; the client then tries its next address
 */
function parseTargetWord(word: string): TargetWord {
  const [system = '', arch, ...bundle] = word.split('-');
  const platform = parsePlatform(system, '/target');
  return {
    platform,
    arch: arch === undefined ? undefined : parseArch(arch, '/target'),
    bundle: bundle.length === 0 ? undefined : bundle.join('-'),
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

function renderOffer({
  release,
  artifact,
  builds,
  document,
  fileUrl,
}: PollOffer): ProtocolResponse {
  const describe = (file: Artifact) => ({
    url: fileUrl(release.version, file.filename),
    signature: file.signatures.find(({ scheme }) => scheme === MINISIGN)?.value ?? '',
  });
  const platforms = builds?.map(({ name, artifact: file }) => [name, describe(file)] as const);
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({
      version: release.version,
      notes: release.notes.und ?? '',
      pub_date: release.releasedAt,
      ...(document === LATEST
        ? { platforms: Object.fromEntries(platforms ?? []) }
        : describe(artifact)),
    }),
  };
}

type Facts = Pick<StaticChannel, 'builds' | 'versions'>;

/**
 * Lists `latest.json`, and an address for each version, machine and bundle type. A target that an application has set
 * is listed when it is `{os}-{arch}`, as in Tauri's own documents; any other target is not known here.
 */
function listTauriAddresses(channel: Facts): readonly StaticAddress[] {
  const { versions } = channel;
  const machines = machinesOf(channel);
  const dynamic = versions.flatMap((version, index) => {
    const older = versions[index + 1] ?? OLDEST;
    return machines.map(({ target, arch, bundle }) => {
      const at = (current: string) => [target, arch, current, ...bundle];
      const standIn = {
        path: at(older),
        isNoUpdate: (document: string) => statedVersion(document) === version,
      };
      // The client compares the versions, so the document of its own version is "no update".
      return { path: at(version), standIn };
    });
  });
  return [{ path: [LATEST] }, ...dynamic];
}

/** Older than every other version, and strict semver. */
const OLDEST = '0.0.0-0';

function statedVersion(document: string): unknown {
  const json: unknown = JSON.parse(document);
  return isRecord(json) ? json.version : undefined;
}

interface TauriMachine {
  readonly target: string;
  readonly arch: string;
  /** Empty when the address has no bundle type. */
  readonly bundle: readonly string[];
}

function machinesOf({ builds }: Facts): readonly TauriMachine[] {
  return Object.entries(SYSTEMS).flatMap(([system, platform]) => {
    const files = builds.filter((build) => build.platform === platform);
    const runs = (admitted: readonly string[]) => files.some(({ arch }) => admitted.includes(arch));
    // Universal is a kind of build, not the architecture of a machine.
    const words = Object.entries(ARCHES).filter(
      ([, arch]) => arch !== 'universal' && runs(admittedArches(platform, arch)),
    );
    const ownUniversal = runs(['universal']) ? [`${system}-universal`] : [];
    const bundles = Object.entries(FORMATS_BY_BUNDLE)
      .filter(([, format]) => INSTALLABLE[platform].includes(format))
      .filter(([, format]) => files.some((file) => file.format === format))
      .map(([bundle]) => [bundle]);
    return words.flatMap(([arch]) =>
      [system, `${system}-${arch}`, ...ownUniversal].flatMap((target) =>
        [...NO_BUNDLE, ...bundles].map((bundle) => ({ target, arch, bundle })),
      ),
    );
  });
}

/**
 * The last segments of an address in which the client states no bundle type. A client that does not know the variable
 * sends the variable unreplaced.
 */
const NO_BUNDLE: readonly (readonly string[])[] = [[], ['unknown'], ['{{bundle_type}}']];
