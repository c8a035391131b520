import { release } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { parseRoot, type TrustRoot } from '../catalog/trust/root.ts';
import { isAppError } from '../core/errors.ts';
import { channelNamed, DEFAULT_CHANNEL } from '../domain/channel.ts';
import { chooseArtifact } from '../domain/choose-artifact.ts';
import {
  type Arch,
  type Platform,
  parseArch,
  parseFormat,
  parsePlatform,
} from '../domain/platform.ts';
import type { Artifact } from '../domain/release.ts';
import type { MachineQuery } from '../domain/update-query.ts';
import {
  compareVersions,
  inRange,
  mayUpdateFrom,
  parseClientVersion,
  parseRange,
  tryParseVersion,
  type Version,
  versionText,
} from '../domain/version.ts';
import {
  openSigned,
  releaseFolder,
  type SignedRelease,
  type VerifiedRoles,
} from './find-signed.ts';
import { createHttp, type Http } from './http.ts';
import { type MetadataDeps, refreshMetadata } from './refresh-metadata.ts';
import { openCache } from './saved-metadata.ts';
import type { CheckOptions, CheckResult, UpdateOffer, UpdaterOptions } from './types.ts';
import { UpdaterError } from './updater-error.ts';

/** The options of an application, checked. */
interface CheckedOptions extends MetadataDeps {
  readonly http: Http;
  readonly options: UpdaterOptions;
  readonly channel: string;
  readonly currentVersion: Version;
  readonly machine: { readonly platform: Platform; readonly arch: Arch };
  /** What the service is asked for. The client compares the signed file with it, by the rules of the service. */
  readonly query: MachineQuery;
  /** The address of the service, without a slash at its end. */
  readonly service: string;
  readonly verified: VerifiedRoles;
}

/** What a test may replace. */
export interface UpdaterSystem {
  readonly now: () => number;
  /** See `createHttp`. */
  readonly patienceMs: number;
  /** The pause before a check that found no signatures for the offer is made once more. */
  readonly pauseMs: number;
}

/** The service holds its answer for at most three seconds until the timestamp of a new release is there. */
const SYSTEM: UpdaterSystem = { now: () => Date.now(), patienceMs: 30_000, pauseMs: 2_000 };

/** A release that the service chose and the keys of the channel signed, with everything that its manifest says. */
interface VerifiedOffer extends SignedRelease {
  readonly artifact: Artifact;
  readonly offer: UpdateOffer;
}

export type VerifiedCheck =
  | Extract<CheckResult, { isOffered: false }>
  | (Extract<CheckResult, { isOffered: true }> & { readonly verified: VerifiedOffer });

/** @throws UpdaterError `invalid_options`, `invalid_root`, `wrong_root` */
export function createVerifier(options: UpdaterOptions, system: UpdaterSystem = SYSTEM) {
  const client = openClient(options, system);
  return {
    client,
    check: (asked: CheckOptions = {}): Promise<VerifiedCheck> =>
      checkTwice(client, asked, system.pauseMs),
  };
}

function openClient(options: UpdaterOptions, { now, patienceMs }: UpdaterSystem): CheckedOptions {
  const { app, cache, url, root: given, headers = {} } = options;
  const text = typeof given === 'string' ? given : Buffer.from(given ?? []).toString();
  let root: TrustRoot;
  try {
    root = parseRoot(Buffer.from(text), 'The option root');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `${why} Give the content of the file that "slipway trust init" wrote.`;
    throw new UpdaterError('invalid_root', message, { cause: error });
  }
  if (root.application !== app) {
    const message = `The root of trust belongs to ${root.application}, and the option app says ${app}.`;
    throw new UpdaterError('wrong_root', message);
  }
  const wrong = (name: string, why: string): UpdaterError =>
    new UpdaterError('invalid_options', `The option ${name} ${why}.`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw wrong(
      'url',
      'must be the address of the service, for example https://updates.example.com',
    );
  }
  if (typeof cache !== 'string' || !path.isAbsolute(cache) || cache.includes('\0')) {
    throw wrong('cache', 'must be the absolute path of a directory');
  }
  const parse = <T>(name: keyof UpdaterOptions, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw wrong(name, `is wrong: ${isAppError(error) ? error.message : 'it is no text'}`);
    }
  };
  const service = url.replace(/\/+$/, '');
  const platform = parse('platform', () => parsePlatform(options.platform ?? process.platform));
  const arch = parse('arch', () => parseArch(options.arch ?? process.arch));
  const { format } = options;
  const formats = format === undefined ? null : [parse('format', () => parseFormat(format))];
  const request = options.fetch ?? fetch;
  try {
    new Headers(headers);
  } catch (error) {
    throw wrong('headers', `is wrong: ${error instanceof Error ? error.message : String(error)}`);
  }
  return {
    options,
    now,
    cache,
    service,
    application: app,
    channel: channelNamed(options.channel ?? DEFAULT_CHANNEL),
    currentVersion: parse('currentVersion', () => parseClientVersion(options.currentVersion)),
    machine: { platform, arch },
    query: {
      platform,
      arch,
      formats,
      osVersion: options.osVersion ?? systemVersion(options) ?? null,
      osGate: 'server',
      purpose: 'update',
      signatureScheme: null,
    },
    shipped: { root, text },
    address: `${service}/tuf/${encodeURIComponent(app)}`,
    http: createHttp({ fetch: request, headers, now, patienceMs }),
    verified: new Map(),
  };
}

/**
 * Right after a release, the metadata may be older than the offer: a cache, or another process of the service, has them.
 * So the client looks once more before it reports an offer that is not signed.
 */
async function checkTwice(
  client: CheckedOptions,
  asked: CheckOptions,
  pauseMs: number,
): Promise<VerifiedCheck> {
  try {
    return await check(client, asked);
  } catch (error) {
    if (!(error instanceof UpdaterError) || error.code !== 'offer_not_signed') throw error;
  }
  // The second check throws `aborted` when the application ended the pause.
  await setTimeout(pauseMs, undefined, { signal: asked.signal }).catch(() => {});
  return check(client, asked);
}

/**
 * The service chooses a release, and the client verifies it. The client asks the service first: the choice may be newer
 * than metadata that the client read before.
 */
async function check(
  client: CheckedOptions,
  { signal, isManual }: CheckOptions,
): Promise<VerifiedCheck> {
  await openCache(client.cache, client.now());
  const choice = await askService(client, isManual === true, signal);
  const metadata = await refreshMetadata(client, signal);
  const { check_again_after_seconds: seconds } = choice;
  // A hostile service must not make the application check without a pause, or never again.
  const checkAgainAfterSeconds = Math.min(Math.max(seconds, 60), 86_400);
  if (!choice.update_available) {
    return { isOffered: false, reason: choice.reason, checkAgainAfterSeconds };
  }
  const { version } = choice;
  const signed = await openSigned(client, metadata, client.channel, signal);
  const isDowngrade = decideDirection(client, version, signed.allowsDowngrade);
  for await (const found of signed.of(version)) {
    const { sha256, filename } = choice.download;
    const artifact = found.release.artifacts.find(
      (each) => each.sha256 === sha256 && each.filename === filename,
    );
    if (artifact === undefined || !fits(client, found, artifact)) continue;
    const offer = describeOffer(client, found, artifact, isDowngrade);
    const verified = { ...found, artifact, offer };
    return { isOffered: true, offer, checkAgainAfterSeconds, verified };
  }
  const message = `The service offers ${version}, and the keys of ${client.channel} signed no such file for this machine, system, format and version. For some seconds after a release, caches can cause this: check again later.`;
  throw new UpdaterError('offer_not_signed', message);
}

const choiceSchema = z.discriminatedUnion('update_available', [
  z.object({
    update_available: z.literal(false),
    reason: z.string(),
    check_again_after_seconds: z.number(),
  }),
  z.object({
    update_available: z.literal(true),
    check_again_after_seconds: z.number(),
    version: z.string().refine((text) => tryParseVersion(text) !== undefined),
    download: z.object({ filename: z.string(), sha256: z.string() }),
  }),
]);

/** In bytes. An answer has the notes of a release, too. */
const ANSWER_BYTES_MAX = 2_000_000;

async function askService(
  client: CheckedOptions,
  isManual: boolean,
  signal: AbortSignal | undefined,
): Promise<z.output<typeof choiceSchema>> {
  const { http, service, application, options, currentVersion, machine, query } = client;
  const url = `${service}/api/v1/desktop/check-update`;
  const body = JSON.stringify({
    app: application,
    channel: client.channel,
    current_version: versionText(currentVersion),
    ...machine,
    installation_id: options.installationId,
    os_version: query.osVersion ?? undefined,
    format: options.format,
    allow_downgrade: options.allowDowngrade,
    manual: isManual ? true : undefined,
  });
  const { status, bytes } = await http.read(url, { max: ANSWER_BYTES_MAX, signal, body });
  const text = bytes.toString();
  if (status !== 200) {
    const message = `The update service refuses the question with ${status}: ${text.slice(0, 300)}`;
    throw new UpdaterError('service_refused', message);
  }
  try {
    return choiceSchema.parse(JSON.parse(text));
  } catch (error) {
    const message = `${url} answers with something that is no answer of Slipway.`;
    throw new UpdaterError('service_refused', message, { cause: error });
  }
}

/** Only Electron knows the version of macOS: `os.release()` is the version of its kernel. */
function systemVersion({ platform = process.platform }: UpdaterOptions): string | undefined {
  if (platform !== process.platform) return undefined;
  const electron: { getSystemVersion?: () => string } = process as never;
  return platform === 'darwin' ? electron.getSystemVersion?.() : release();
}

/** @returns true for an older version */
function decideDirection(
  { currentVersion, options, channel }: CheckedOptions,
  text: string,
  isAllowed: boolean,
): boolean {
  const order = compareVersions(parseClientVersion(text), currentVersion);
  if (order > 0) return false;
  const own = versionText(currentVersion);
  if (order < 0 && options.allowDowngrade === true && isAllowed) return true;
  const why =
    order === 0 || options.allowDowngrade !== true
      ? 'and the application accepts only newer versions'
      : `and the keys of ${channel} do not allow a downgrade`;
  throw new UpdaterError('downgrade_refused', `The service offers ${text} to ${own}, ${why}.`);
}

/**
 * True when the signed release is for this machine, and for the running version. A hostile service could otherwise
 * offer a signed file that this machine cannot install, or cannot start.
 */
function fits(
  { query, currentVersion }: CheckedOptions,
  found: SignedRelease,
  file: Artifact,
): boolean {
  const choice = chooseArtifact([{ ...file, signatureSchemes: [] }], query);
  return 'artifact' in choice && mayUpdateFrom(versionText(currentVersion), found.release.requires);
}

function describeOffer(
  client: CheckedOptions,
  { release, channel }: SignedRelease,
  artifact: Artifact,
  isDowngrade: boolean,
): UpdateOffer {
  const { version, releasedAt, notes, mandatoryFor } = release;
  const { platform, arch, format, filename, size, sha256, sha512 } = artifact;
  const folder = releaseFolder(client.address, { ...client, channel, version });
  const url = `${folder}/${sha256}.${encodeURIComponent(filename)}`;
  return {
    version,
    isDowngrade,
    isMandatory:
      mandatoryFor !== null &&
      inRange(client.currentVersion, parseRange(mandatoryFor, '/mandatory_for')),
    releasedAt,
    notes,
    platform,
    arch,
    format,
    file: { filename, size, sha256, sha512, url },
  };
}
