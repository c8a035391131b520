import type { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { runInTurns } from '../../core/run-in-turns.ts';
import { runAtOnce } from '../../core/steps.ts';
import {
  type Check,
  checkBy,
  digestOf,
  parseEnvelopeInSteps,
  renderSealed,
  type Sealed,
} from './envelope.ts';
import { type IsLong, LimitError, refuseExcess } from './json.ts';
import type { Sequence } from './sequence.ts';

/** A kind of document: its schema, its limits and its keys. */
interface Definition<S extends z.ZodType> {
  readonly name: string;
  readonly schema: S;
  /**
   * Makes the same checks as the schema, but in steps. Only a kind of document that can be large needs this function.
   */
  readonly check?: Check<z.output<S>>;
  /** See {@link Expectation.isLong}. */
  readonly isLong?: IsLong;
  /** See {@link Expectation.newestVersion}. */
  readonly newestVersion?: number;
  readonly documentBytesMax: number;
  /** See {@link ReadableSequence.reach}. */
  readonly reach?: number;
  /** See {@link Sequence.endKey}. */
  readonly endKey?: string;
  /** Default: `skipped`. See {@link Sequence.corruptNewest}. */
  readonly corruptNewest?: 'unknown';
  /** See {@link Sequence.loss}. */
  readonly loss?: string;
  /** See {@link Sequence.announced}. */
  readonly announced?: Sequence<Sealed<z.output<S>>>['announced'];
  /**
   * Verifies the signatures of a document whose digest and schema are right. Absent: signatures do not matter.
   *
   * @throws AppError `document_corrupt` for a document without a valid signature
   */
  readonly verify?: ((document: Sealed<z.output<S>>, number: number) => Promise<void>) | undefined;
  key(number: number): string;
  /** The fields that follow from the key: see {@link Expectation.fields}. */
  expected(number: number): Readonly<Record<string, unknown>>;
}

/** In bytes. A smaller document is parsed in one step, which takes a millisecond or two. */
const LARGE_BYTES = 128 * 1024;

/** Defines a sequence of sealed documents: `parse` returns each document with its digest. */
export function defineSequence<S extends z.ZodType<{ change_id: string }>>(
  definition: Definition<S>,
): Sequence<Sealed<z.output<S>>> {
  return {
    name: definition.name,
    documentBytesMax: definition.documentBytesMax,
    reach: definition.reach,
    corruptNewest: definition.corruptNewest ?? 'skipped',
    loss: definition.loss,
    ...(definition.endKey === undefined ? {} : { endKey: definition.endKey }),
    ...(definition.announced === undefined ? {} : { announced: definition.announced }),
    key: definition.key,
    render: ({ signed, signatures }) => {
      // The process must never write a document that readers refuse, because nothing could remove this document again.
      const checked = definition.schema.safeParse(signed);
      if (!checked.success) {
        const why = `The ${definition.name} would not be readable: ${checked.error.message}`;
        throw new AppError('internal', why, { cause: checked.error });
      }
      const { bytes, digest } = renderSealed(signed, signatures);
      refuseUnreadable(definition, bytes);
      rendered.set(signed, digest);
      return bytes;
    },
    parse: (bytes, number) => {
      const steps = parseEnvelopeInSteps(bytes, {
        key: definition.key(number),
        check: definition.check ?? checkBy(definition.schema),
        fields: definition.expected(number),
        isLong: definition.isLong,
        newestVersion: definition.newestVersion,
      });
      const { verify } = definition;
      const isLarge = bytes.length >= LARGE_BYTES;
      if (verify === undefined) return isLarge ? runInTurns(steps) : runAtOnce(steps);
      const parseVerified = async () => {
        const document = await runInTurns(steps);
        await verify(document, number);
        return document;
      };
      return parseVerified();
    },
    changeId: ({ signed }) => signed.change_id,
  };
}

/** @throws AppError `document_too_large` for a document above a limit of readers, such as the items of one list */
function refuseUnreadable(
  { name, isLong }: Pick<Definition<z.ZodType>, 'name' | 'isLong'>,
  bytes: Uint8Array,
): void {
  try {
    refuseExcess(bytes, isLong);
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    const why = `The new document of the ${name} ${error.message}, which no reader would accept; nothing was changed.`;
    throw new AppError('document_too_large', why, { cause: error });
  }
}

/** The digests of documents that the process has rendered. No code changes a document after that. */
const rendered = new WeakMap<object, string>();

/**
 * Seals a document that the process is about to store. Computes the digest only on request: the computation takes long
 * for thousands of offers, and most writers need the digest only when the document is rendered.
 */
export function seal<T extends object>(signed: T): Sealed<T> {
  return {
    signed,
    get digest() {
      const digest = rendered.get(signed) ?? digestOf(signed);
      rendered.set(signed, digest);
      return digest;
    },
  };
}
