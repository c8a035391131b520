import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError, isAppError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import { ITEMS_PER_STEP, runAtOnce, type Steps } from '../../core/steps.ts';
import { canonicalForm } from './canonical.ts';
import { findLongLists, type IsLong, LimitError, type LongList } from './json.ts';
import { parseInSteps } from './parse-in-steps.ts';

/**
 * The stored form of a document: `{signed, digest, signatures}`.
 *
 * The digest is the SHA-256 of the RFC 8785 canonical form of `signed`, in hex. The digest distinguishes a corrupt or
 * edited document from a sound document. Other documents refer to a document by its digest. The digest does not prove
 * the origin: an attacker with write access to the bucket can write a digest. Only a signature proves the origin.
 */

/** The schema version of every kind of document that does not state another one. */
export const SCHEMA_VERSION = 1;

const signatureSchema = z
  .object({
    key_id: z.string().describe('The TUF key id of the key that signed.'),
    jws: z
      .string()
      .describe(
        'Detached JWS (RFC 7515, appendix F). Its payload is the text of `digest`; of a release manifest, the name of a channel, a space, and the text of `digest`.',
      ),
  })
  .describe(
    'A signature by one key. Only catalog revisions and release manifests of an application with a root of trust have signatures.',
  );

/** The signature of a document by one key. */
export type DocumentSignature = Readonly<z.output<typeof signatureSchema>>;

export const digestSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256, in lower-case hex.');

/** The corrupt documents that a document skips, with the SHA-256 of their bytes. */
export const skippedSchema = z.array(
  z.object({
    number: z.number().int(),
    reason: z.string(),
    sha256: digestSchema.nullable().describe('Of its bytes, in hex; null when they were too many.'),
  }),
);

export type Skipped = z.output<typeof skippedSchema>[number];

export function envelopeSchema<T extends z.ZodType>(signed: T) {
  return z.object({
    signed,
    digest: digestSchema.describe('SHA-256 of the RFC 8785 canonical form of `signed`, in hex.'),
    signatures: z.array(signatureSchema),
  });
}

export interface Sealed<T> {
  readonly signed: T;
  readonly digest: string;
  /** Absent: none. */
  readonly signatures?: readonly DocumentSignature[] | undefined;
}

/** Hex SHA-256 of the canonical form (RFC 8785). */
export function digestOf(signed: unknown): string {
  return sha256(Buffer.from(canonicalForm(signed)));
}

/** The bytes to store: `signed` in its canonical form, so that readers can hash these bytes unchanged. */
export function renderEnvelope(signed: object): Uint8Array {
  return renderSealed(signed).bytes;
}

/** Like {@link renderEnvelope}, with the digest that the bytes state. */
export function renderSealed(
  signed: object,
  signatures?: readonly DocumentSignature[],
): RenderedEnvelope {
  return runAtOnce(renderSealedInSteps(signed, signatures));
}

interface RenderedEnvelope {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/** Like {@link renderSealed}, in steps. It renders and hashes the lists of `signed` a few items at a time. */
export function* renderSealedInSteps(
  signed: object,
  signatures: readonly DocumentSignature[] = [],
): Steps<RenderedEnvelope> {
  const hash = createHash('sha256');
  const parts = [Buffer.from(HEAD)];
  const add = (text: string): void => {
    const part = Buffer.from(text);
    hash.update(part);
    parts.push(part);
  };
  add('{');
  let comma = '';
  for (const [name, value] of Object.entries(signed).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === undefined) continue;
    add(`${comma}${canonicalForm(name)}:`);
    if (Array.isArray(value)) yield* addInSteps(value, add);
    else add(canonicalForm(value));
    comma = ',';
  }
  add('}');
  const digest = hash.digest('hex');
  const list = canonicalForm(signatures);
  parts.push(Buffer.from(`,"digest":"${digest}","signatures":${list}}\n`));
  return { bytes: Buffer.concat(parts), digest };
}

function* addInSteps(items: readonly unknown[], add: (text: string) => void): Steps<void> {
  add('[');
  for (let at = 0; at < items.length; at += ITEMS_PER_STEP) {
    const list = canonicalForm(items.slice(at, at + ITEMS_PER_STEP));
    add(`${at === 0 ? '' : ','}${list.slice(1, -1)}`);
    yield;
  }
  add(']');
}

const HEAD = '{"signed":';

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Checks a value against a schema, in steps. The result is like zod's, but may contain only the first issue. */
export type Check<T> = (value: unknown) => Steps<CheckResult<T>>;

export type CheckResult<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: Pick<z.ZodError, 'issues' | 'message'> };

/** The requirements on a stored document. */
export interface Expectation<T> {
  /** For messages. */
  readonly key: string;
  readonly check: Check<T>;
  /**
   * Says which fields may be long; the check looks at the items of these fields in steps. Default: no field may be
   * long.
   */
  readonly isLong?: IsLong | undefined;
  /** The newest schema version of this kind of document. Default: {@link SCHEMA_VERSION}. */
  readonly newestVersion?: number | undefined;
  /**
   * The fields of `signed` that follow from the document's key. They must match, because a document that was copied
   * from another key is as wrong as an altered document.
   */
  readonly fields: Readonly<Record<string, unknown>>;
}

export function checkBy<S extends z.ZodType>(schema: S): Check<z.output<S>> {
  // biome-ignore lint/correctness/useYield: a schema has no steps
  return function* (value) {
    return schema.safeParse(value);
  };
}

/**
 * Parses a stored document; checks its digest, schema version and schema, in that order.
 *
 * @throws AppError `document_corrupt`, `document_newer`
 */
export function parseEnvelope<S extends z.ZodType>(
  bytes: Uint8Array,
  key: string,
  schema: S,
  fields: Readonly<Record<string, unknown>>,
  newestVersion?: number,
): Sealed<z.output<S>> {
  return runAtOnce(
    parseEnvelopeInSteps(bytes, { key, check: checkBy(schema), fields, newestVersion }),
  );
}

/** Like {@link parseEnvelope}, but in steps: a document with thousands of offers takes a tenth of a second. */
export function* parseEnvelopeInSteps<T>(
  bytes: Uint8Array,
  { key, check, fields, isLong, newestVersion = SCHEMA_VERSION }: Expectation<T>,
): Steps<Sealed<T>> {
  const corrupt = (why: string, cause?: unknown): AppError =>
    new AppError('document_corrupt', `${key} ${why}.`, { cause });
  const { signed, digest, signatures } = yield* openEnvelope(bytes, corrupt, isLong);
  const version = signed.schema_version;
  if (typeof version === 'number' && version > newestVersion) {
    throw new AppError(
      'document_newer',
      `${key} has schema version ${version}; this Slipway reads up to ${newestVersion}. Upgrade Slipway here before doing anything else.`,
    );
  }
  yield;
  const parsed = yield* checkSafely(check, signed, corrupt);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    // Does not pass the whole error on as the cause: this error lists every wrong item of a hostile document, and the
    // log would print the list.
    const path = issue?.path.join('/').slice(0, PATH_LENGTH_MAX);
    throw corrupt(`does not match its schema: ${path} ${issue?.message}`);
  }
  for (const [field, value] of Object.entries(fields)) {
    if (signed[field] !== value) {
      const found = JSON.stringify(signed[field])?.slice(0, 80);
      throw corrupt(`says ${field} ${found}, not ${JSON.stringify(value)}`);
    }
  }
  return signatures.length === 0
    ? { signed: parsed.data, digest }
    : { signed: parsed.data, digest, signatures };
}

/**
 * Treats a document as corrupt whenever its check fails: for a hundred thousand wrong values, zod throws a RangeError.
 */
function* checkSafely<T>(
  check: Check<T>,
  signed: unknown,
  corrupt: (why: string, cause?: unknown) => AppError,
): Steps<CheckResult<T>> {
  try {
    return yield* check(signed);
  } catch (error) {
    throw isAppError(error) ? error : corrupt('does not match its schema', error);
  }
}

/** In characters. The path needs a limit because an attacker also chooses the names in a document. */
const PATH_LENGTH_MAX = 200;

/**
 * In bytes. A larger document must have the form that {@link renderEnvelope} makes: the process has to render any other
 * form again, and cannot do that in steps.
 */
const OTHER_SPELLING_BYTES_MAX = 1024 * 1024;

/** Built once: building a schema costs far more than parsing a document with it. */
const anyEnvelope = envelopeSchema(z.custom<Record<string, unknown>>(isRecord));

interface OpenedEnvelope extends Sealed<Record<string, unknown>> {
  readonly signatures: readonly DocumentSignature[];
}

function* openEnvelope(
  bytes: Uint8Array,
  corrupt: (why: string, cause?: unknown) => AppError,
  isLong: IsLong | undefined,
): Steps<OpenedEnvelope> {
  let json: unknown;
  try {
    const lists = yield* findLongLists(bytes, isLong);
    yield;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const rendered = yield* openRendered(text, bytes, lists);
    if (rendered !== undefined) return rendered;
    if (bytes.length > OTHER_SPELLING_BYTES_MAX) throw new SyntaxError('Not in canonical form');
    json = JSON.parse(text);
  } catch (error) {
    const isLimit = error instanceof LimitError;
    throw corrupt(isLimit ? error.message : 'is truncated or not JSON', error);
  }
  const envelope = anyEnvelope.safeParse(json);
  if (!envelope.success) throw corrupt('is not an envelope {signed, digest, signatures}');
  const { signed, digest, signatures } = envelope.data;
  let own: string | undefined;
  try {
    own = digestOf(signed);
  } catch (error) {
    // The document has a number that JSON can write but that has no canonical form, such as 1e999.
    throw corrupt('has no canonical form', error);
  }
  if (own !== digest) throw corrupt('does not match its digest: it was altered');
  return { signed, digest, signatures };
}

const RENDERED = /,"digest":"([0-9a-f]{64})","signatures":(\[[^[\]]*\])\}\n?$/;

/**
 * Parses an envelope of the form that {@link renderEnvelope} makes. Does not make the canonical form again: for
 * thousands of offers, that takes longer than everything else.
 *
 * The function hashes exactly the text that it parses, so nothing outside this text can replace a field.
 *
 * @returns undefined for an envelope that is spelled in another way, even if it is sound
 */
function* openRendered(
  text: string,
  bytes: Uint8Array,
  lists: readonly LongList[],
): Steps<OpenedEnvelope | undefined> {
  // Searches only the end: signatures are few, and a pattern must not search megabytes.
  const from = Math.max(0, text.length - RENDERED_END_MAX);
  const end = RENDERED.exec(text.slice(from));
  // The decoder drops a byte order mark, so the first byte must be checked as well.
  if (end === null || !text.startsWith(HEAD) || bytes[0] !== HEAD.charCodeAt(0)) return undefined;
  const [tail, digest = '', signatures = ''] = end;
  // Hashes the bytes as they were read: encoding the text again takes longer than hashing it.
  const hash = createHash('sha256');
  const canonical = bytes.subarray(HEAD.length, bytes.length - Buffer.byteLength(tail));
  for (let at = 0; at < canonical.length; at += HASHED_PER_STEP) {
    yield;
    hash.update(canonical.subarray(at, at + HASHED_PER_STEP));
  }
  const own = hash.digest('hex');
  if (own !== digest) return undefined;
  const envelope = anyEnvelope.safeParse({
    signed:
      lists.length === 0
        ? JSON.parse(text.slice(HEAD.length, from + end.index))
        : yield* parseInSteps(canonical, within(lists, canonical)),
    // Takes `own`, because `digest` is a part of the text, and V8 would keep the whole text in memory for it.
    digest: own,
    signatures: JSON.parse(signatures),
  });
  return envelope.success ? envelope.data : undefined;
}

/**
 * Says whether a stored document has signatures, without parsing it. False for an envelope of another spelling than
 * {@link renderEnvelope} makes.
 */
export function endsWithSignatures(bytes: Uint8Array): boolean {
  const end = new TextDecoder().decode(bytes.subarray(-RENDERED_END_MAX));
  const signatures = RENDERED.exec(end)?.[2];
  return signatures !== undefined && signatures !== '[]';
}

/** The long lists of `signed`. Their positions count from the start of its text. */
function within(lists: readonly LongList[], { length }: Uint8Array): readonly LongList[] {
  const shift = HEAD.length;
  return lists
    .filter(({ end }) => end < shift + length)
    .map(({ start, end, commas, path }) => ({
      start: start - shift,
      end: end - shift,
      commas: commas.map((comma) => comma - shift),
      path: path.slice(1).map((step) => ({ ...step, name: step.name - shift })),
    }));
}

const RENDERED_END_MAX = 64 * 1024;
/** In bytes. */
const HASHED_PER_STEP = 256 * 1024;
