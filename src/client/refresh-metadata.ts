import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Updater as TufClient } from 'tuf-js';
import { DownloadHTTPError, ExpiredMetadataError } from 'tuf-js/dist/error.js';
import { z } from 'zod';
import { type Delegations, parseDelegations, roleName } from '../catalog/trust/channel-role.ts';
import { digestOfSigned } from '../catalog/trust/metadata.ts';
import { parseRoot, type TrustRoot } from '../catalog/trust/root.ts';
import { isRecord } from '../core/json-record.ts';
import { cacheError, diskFull, ignoreMissing } from './file-errors.ts';
import type { Http } from './http.ts';
import { isMetadata, readSaved, type SavedMetadata, writeSaved } from './saved-metadata.ts';
import { UpdaterError } from './updater-error.ts';

/**
 * Brings the metadata of an application up to date, as the client workflow of TUF says (TUF specification 1.0.31,
 * section 5). tuf-js does the work in a directory of its own. What it verified then replaces the saved metadata as a
 * whole.
 */

/** Verified metadata. */
export interface FreshMetadata {
  readonly root: TrustRoot;
  readonly delegations: Delegations;
  /** The version of the role of a channel; undefined: nothing is signed for the channel. */
  roleVersion(channel: string): number | undefined;
}

export interface RepositoryDeps {
  readonly http: Pick<Http, 'read'>;
  /** The directory of the cache, which exists. */
  readonly cache: string;
  readonly application: string;
  /** The root that came with the application, and its text. */
  readonly shipped: { readonly root: Pick<TrustRoot, 'version'>; readonly text: string };
  /** The address of the metadata of the application. */
  readonly address: string;
}

export interface MetadataDeps extends RepositoryDeps {
  readonly http: Http;
  readonly now: () => number;
}

/** A clock that is wrong by less makes no difference to metadata that are valid for days. */
const CLOCK_WRONG_MS = 24 * 3_600_000;

/** @throws UpdaterError */
export async function refreshMetadata(
  deps: MetadataDeps,
  signal: AbortSignal | undefined,
): Promise<FreshMetadata> {
  const { saved, error } = await followRepository(deps, signal);
  if (error !== undefined) throw explain(deps, error);
  return interpret(deps, saved);
}

/**
 * Runs the client workflow of TUF, and saves what tuf-js verified. That counts even when a later step failed: the client
 * must never accept anything older.
 *
 * @returns `error`: the failure of the workflow; undefined: everything is up to date
 * @throws UpdaterError `cache_unusable`, `disk_full`
 */
export async function followRepository(
  deps: RepositoryDeps,
  signal?: AbortSignal,
): Promise<{ readonly saved: SavedMetadata; readonly error: unknown }> {
  const stored = await readSaved(deps.cache);
  let before = startFrom(deps, stored);
  let followed = await followTuf(deps, before.files, signal);
  if (followed.isRootRefused && before.files.root !== deps.shipped.text) {
    // The saved root was damaged. The shipped root replaces it, and the other metadata stay.
    before = startFrom(deps, stored && { ...stored, roots: {} });
    followed = await followTuf(deps, before.files, signal);
  }
  return { saved: await save(deps, stored, before, followed), error: followed.error };
}

/**
 * The saved metadata. When they do not come from the shipped root, the client starts from this root. It keeps the
 * other metadata: it never accepts anything older, as far as the keys of the newest root signed what it saw.
 */
function startFrom(
  { application, shipped }: RepositoryDeps,
  saved: SavedMetadata | undefined,
): SavedMetadata {
  const { root, text } = shipped;
  const roots = { [root.version]: digestOfRoot(text) };
  if (saved?.application !== application) return { application, roots, files: { root: text } };
  const known = saved.roots[root.version];
  if (known === roots[root.version]) return saved;
  // Versions of the application with different roots may share a cache.
  const kept = known === undefined ? saved.roots : {};
  return { application, roots: { ...kept, ...roots }, files: { ...saved.files, root: text } };
}

/** Signatures that a root got later do not change its digest. */
function digestOfRoot(text: string): string {
  return digestOfSigned(JSON.parse(text).signed);
}

/** The state after tuf-js has run, also when it failed. */
interface Followed {
  /** The texts of the verified metadata. */
  readonly files: Readonly<Record<string, string>>;
  /** The texts of the roots that the service gave, by their versions. */
  readonly roots: ReadonlyMap<number, string>;
  /** True when tuf-js could not begin, because the first root is not signed by its own keys. */
  readonly isRootRefused: boolean;
  readonly error: unknown;
}

const TOP_LEVEL = ['root', 'timestamp', 'snapshot', 'targets'];
/** In bytes, for each of them. A root with a hundred keys has 40 KB. */
const BYTES_MAX = 128 * 1024;
/** tuf-js copies all entries of an object for each entry, before it verifies a signature. */
const ENTRIES_MAX = 500;

/** @throws UpdaterError `metadata_rejected` for a document that tuf-js would parse for minutes */
function refuseWide(bytes: Buffer, url: string): void {
  JSON.parse(bytes.toString(), (_name, value: unknown) => {
    if (isRecord(value) && Object.keys(value).length > ENTRIES_MAX) {
      const message = `The metadata of the service are not trusted: ${url} has an object with more than ${ENTRIES_MAX} entries.`;
      throw new UpdaterError('metadata_rejected', message);
    }
    return value;
  });
}

async function followTuf(
  { http, cache, address }: RepositoryDeps,
  files: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Followed> {
  let work: string | undefined;
  try {
    work = await mkdtemp(path.join(cache, 'work.tmp-'));
    for (const name of TOP_LEVEL) {
      const text = files[name];
      if (text !== undefined) await writeFile(path.join(work, `${name}.json`), text);
    }
    const roots = new Map<number, string>();
    let failure: unknown;
    /** Our requests have limits. tuf-js passes some failures on as text, so the first one is kept. */
    const downloadBytes = async (url: string, max: number): Promise<Buffer> => {
      try {
        // tuf-js allows the length that the metadata state, which may be any length.
        const limit = Math.min(max, BYTES_MAX);
        const { status, bytes } = await http.read(url, { max: limit, signal });
        const root = /(\d+)\.root\.json$/.exec(url)?.[1];
        if (status === 200 && root !== undefined) roots.set(Number(root), bytes.toString());
        if (status === 200) {
          refuseWide(bytes, url);
          return bytes;
        }
        // tuf-js takes 404 as the end of the roots.
        if (status === 404 && root !== undefined) throw new DownloadHTTPError('no root', status);
        throw new UpdaterError('service_refused', `${url} answers ${status}.`);
      } catch (error) {
        if (error instanceof UpdaterError) failure ??= error;
        throw error;
      }
    };
    const downloadFile = () => Promise.reject(new Error('Only downloadBytes is used.'));
    const limits = { rootMaxLength: BYTES_MAX, snapshotMaxLength: BYTES_MAX };
    let error: unknown;
    let isRootRefused = true;
    try {
      const client = new TufClient({
        metadataDir: work,
        metadataBaseUrl: address,
        fetcher: { downloadBytes, downloadFile },
        config: { ...limits, targetsMaxLength: BYTES_MAX },
      });
      isRootRefused = false;
      await client.refresh();
    } catch (thrown) {
      error = failure ?? thrown;
    }
    const verified: Record<string, string> = {};
    for (const name of TOP_LEVEL) {
      const text = await readFile(path.join(work, `${name}.json`), 'utf8').catch(ignoreMissing);
      // On a full disk, tuf-js leaves only a part of a file. Then the text before stays.
      if (text !== undefined && isMetadata(name, text)) verified[name] = text;
    }
    return { files: verified, roots, isRootRefused, error };
  } catch (error) {
    throw cacheError(cache, error);
  } finally {
    if (work !== undefined) await rm(work, { recursive: true, force: true }).catch(() => {});
  }
}

/** @param stored what was saved when the client began */
async function save(
  { cache, application }: RepositoryDeps,
  stored: SavedMetadata | undefined,
  before: SavedMetadata,
  followed: Followed,
): Promise<SavedMetadata> {
  const files = { ...before.files, ...followed.files };
  const newest = versionIn(files.root);
  const verified = [...followed.roots].filter(([version]) => version <= newest);
  const digests = verified.map(([version, text]) => [version, digestOfRoot(text)]);
  const roots = { ...before.roots, ...Object.fromEntries(digests) };
  const next = { application, roots, files };
  const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  if (isSame(next, stored ?? before)) return next;
  // Another process of the application may have seen newer metadata meanwhile.
  const other = await readSaved(cache);
  const isOlder =
    !isSame(other, stored) &&
    other?.application === application &&
    other.roots[newest] === roots[newest] &&
    (versionIn(other.files.root) > newest ||
      versionIn(other.files.timestamp) > versionIn(files.timestamp));
  if (!isOlder) await writeSaved(cache, next);
  return next;
}

function versionIn(text: string | undefined): number {
  return text === undefined ? 0 : Number(JSON.parse(text).signed.version);
}

const stateSchema = z.object({
  timestamp: z.object({ signed: z.object({ x_slipway_signed_at: z.iso.datetime() }) }),
  snapshot: z.object({
    signed: z.object({ meta: z.record(z.string(), z.object({ version: z.int().positive() })) }),
  }),
});

/** @throws UpdaterError `metadata_rejected`, `clock_wrong` */
function interpret(deps: MetadataDeps, saved: SavedMetadata): FreshMetadata {
  const { application, now } = deps;
  const { files } = saved;
  const bytesOf = (name: string): Buffer => Buffer.from(files[name] ?? '');
  try {
    const root = parseRoot(bytesOf('root'), 'The root');
    if (root.application !== application) {
      throw new Error(`the root belongs to ${root.application}`);
    }
    const delegations = parseDelegations(root, bytesOf('targets'), 'The targets metadata');
    const { timestamp, snapshot } = stateSchema.parse({
      timestamp: JSON.parse(String(files.timestamp)),
      snapshot: JSON.parse(String(files.snapshot)),
    });
    const signedAt = Date.parse(timestamp.signed.x_slipway_signed_at);
    if (signedAt - now() > CLOCK_WRONG_MS) throw clockWrong(now(), signedAt);
    return {
      root,
      delegations,
      roleVersion: (channel) => snapshot.signed.meta[`${roleName(channel)}.json`]?.version,
    };
  } catch (error) {
    throw error instanceof UpdaterError ? error : rejected(error);
  }
}

/** Translates a failure of tuf-js. */
function explain({ http, now, cache }: MetadataDeps, error: unknown): UpdaterError {
  if (error instanceof UpdaterError) return error;
  const text = error instanceof Error ? error.message : String(error);
  // tuf-js passes failures of the file system on as text.
  if (/\b(ENOSPC|EDQUOT)\b/.test(text)) return diskFull(cache, error);
  if (!(error instanceof ExpiredMetadataError) && !text.includes('is expired')) {
    return rejected(error);
  }
  const serviceTime = http.serviceTime();
  if (serviceTime !== undefined && Math.abs(serviceTime - now()) > CLOCK_WRONG_MS) {
    return clockWrong(now(), serviceTime, error);
  }
  const options = { cause: error };
  if (text.includes('root.json')) {
    const message =
      'The newest root of trust expired. The publisher must renew it. Try again later.';
    return new UpdaterError('root_expired', message, options);
  }
  if (text.includes('targets.json')) {
    const message =
      'The publisher did not renew the keys of the channels in time. Try again later.';
    return new UpdaterError('metadata_expired', message, options);
  }
  const message =
    'The state of the service stands still: its operators confirmed it too long ago. The service, or an attacker in front of it, may hide newer releases. Try again later.';
  return new UpdaterError('metadata_stands_still', message, options);
}

function clockWrong(now: number, other: number, cause?: unknown): UpdaterError {
  const textOf = (ms: number): string => new Date(ms).toISOString();
  const message = `The clock of this machine says ${textOf(now)}, and the service says ${textOf(other)}. One of them is wrong. Without the right time, no expiry can be judged.`;
  return new UpdaterError('clock_wrong', message, { cause });
}

function rejected(cause: unknown): UpdaterError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `The metadata of the service are not trusted: ${why}`;
  return new UpdaterError('metadata_rejected', message, { cause });
}
