import type { z } from 'zod';
import { AppError } from '../errors.ts';
import type { Sequence } from '../sequence/sequence.ts';
import { APPLICATIONS_BYTES_MAX, applicationsSchema } from './applications-document.ts';
import { digestOf, parseEnvelope, renderEnvelope, type Sealed } from './envelope.ts';
import { applicationsKey, manifestKey, revisionKey } from './keys.ts';
import { MANIFEST_BYTES_MAX, manifestSchema } from './manifest-document.ts';
import { REVISION_BYTES_MAX, revisionSchema } from './revision-document.ts';

/** The three sequences of a catalog. Their documents are sealed: content with the digest it was read under. */

export type Applications = Sealed<z.output<typeof applicationsSchema>>;
export type Revision = Sealed<z.output<typeof revisionSchema>>;
export type Manifest = Sealed<z.output<typeof manifestSchema>>;

interface Definition<S extends z.ZodType> {
  readonly name: string;
  readonly schema: S;
  readonly documentBytesMax: number;
  key(number: number): string;
  /** What the key promises of the document. */
  expected(number: number): Readonly<Record<string, unknown>>;
}

function defineSequence<S extends z.ZodType<{ change_id: string }>>(
  definition: Definition<S>,
): Sequence<Sealed<z.output<S>>> {
  return {
    name: definition.name,
    documentBytesMax: definition.documentBytesMax,
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
    parse: (bytes, number) =>
      parseEnvelope(bytes, definition.key(number), definition.schema, definition.expected(number)),
    changeId: ({ signed }) => signed.change_id,
  };
}

/** A document about to be stored. */
export function seal<T extends object>(signed: T): Sealed<T> {
  return { signed, digest: digestOf(signed) };
}

export const applicationsSequence: Sequence<Applications> = defineSequence({
  name: 'list of applications',
  schema: applicationsSchema,
  documentBytesMax: APPLICATIONS_BYTES_MAX,
  key: applicationsKey,
  expected: (number) => ({ number }),
});

export function revisionSequence(application: string): Sequence<Revision> {
  return defineSequence({
    name: `catalog of ${application}`,
    schema: revisionSchema,
    documentBytesMax: REVISION_BYTES_MAX,
    key: (revision) => revisionKey(application, revision),
    expected: (revision) => ({ application, revision }),
  });
}

export function manifestSequence(application: string, version: string): Sequence<Manifest> {
  return defineSequence({
    name: `manifest of ${application} ${version}`,
    schema: manifestSchema,
    documentBytesMax: MANIFEST_BYTES_MAX,
    key: (number) => manifestKey(application, version, number),
    expected: (number) => ({ application, version, number }),
  });
}
