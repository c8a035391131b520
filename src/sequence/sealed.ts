import type { z } from 'zod';
import { AppError } from '../errors.ts';
import { runAtOnce, runInTurns } from '../steps.ts';
import {
  type Check,
  checkBy,
  digestOf,
  parseEnvelopeInSteps,
  renderEnvelope,
  type Sealed,
} from './envelope.ts';
import type { Sequence } from './sequence.ts';

/** What a kind of document is, and where its numbers lie. */
export interface Definition<S extends z.ZodType> {
  readonly name: string;
  readonly schema: S;
  /** The same as the schema says, in steps: for documents that can be large. */
  readonly check?: Check<z.output<S>>;
  readonly documentBytesMax: number;
  /** See {@link Sequence.endKey}. */
  readonly endKey?: string;
  /** `skipped` unless given; see {@link Sequence.corruptNewest}. */
  readonly corruptNewest?: 'unknown';
  key(number: number): string;
  /** What the key promises of the document. */
  expected(number: number): Readonly<Record<string, unknown>>;
}

/** What is smaller is read within a millisecond or two, in which no request has to be answered. */
const LARGE_BYTES = 128 * 1024;

/** A sequence whose documents are sealed: content with the digest it was read under. */
export function defineSequence<S extends z.ZodType<{ change_id: string }>>(
  definition: Definition<S>,
): Sequence<Sealed<z.output<S>>> {
  return {
    name: definition.name,
    documentBytesMax: definition.documentBytesMax,
    corruptNewest: definition.corruptNewest ?? 'skipped',
    ...(definition.endKey === undefined ? {} : { endKey: definition.endKey }),
    key: definition.key,
    render: ({ signed }) => {
      // What readers would refuse must never be written: nothing could take it back.
      const checked = definition.schema.safeParse(signed);
      if (!checked.success) {
        const why = `The ${definition.name} would not be readable: ${checked.error.message}`;
        throw new AppError('internal', why, { cause: checked.error });
      }
      return renderEnvelope(signed);
    },
    parse: (bytes, number) => {
      const steps = parseEnvelopeInSteps(bytes, {
        key: definition.key(number),
        check: definition.check ?? checkBy(definition.schema),
        fields: definition.expected(number),
      });
      return bytes.length < LARGE_BYTES ? runAtOnce(steps) : runInTurns(steps);
    },
    changeId: ({ signed }) => signed.change_id,
  };
}

/** A document about to be stored. */
export function seal<T extends object>(signed: T): Sealed<T> {
  return { signed, digest: digestOf(signed) };
}
