import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SIGNED_REVISION_VERSION } from '../../catalog/documents/revision-document.ts';
import { AppError } from '../../core/errors.ts';
import { runAtOnce } from '../../core/steps.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { checkBy, parseEnvelopeInSteps, skippedSchema } from '../../store/sequence/envelope.ts';
import { type ReadableSequence, readChecked } from '../../store/sequence/read-checked.ts';
import type { CopiedObject } from './copy-plan.ts';
import type { DocumentRead } from './copy-side.ts';

/** More bytes than any document may have. */
const DOCUMENT_BYTES_MAX = 32 * 1024 * 1024;

const anyDocument = checkBy(z.looseObject({ skipped: skippedSchema.optional() }));

/**
 * Reads a document for a copy. A sealed document must match its digest, and agree with its key. An object with a stated
 * hash must have this hash. Like every reader, it reads a corrupt document again before it reports the corruption.
 *
 * @param sha256 hex; undefined when nothing states the hash
 * @throws AppError `document_newer`, because this program does not know which objects the document names
 */
export async function readStoredDocument(
  store: ObjectStore,
  { key, kind, fields }: CopiedObject,
  sha256?: string,
): Promise<DocumentRead | undefined> {
  const sequence: ReadableSequence<DocumentRead> = {
    key: () => key,
    documentBytesMax: DOCUMENT_BYTES_MAX,
    parse: (bytes) => {
      if (sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== sha256) {
        const why = `${key} has other bytes than its manifest states.`;
        throw new AppError('document_corrupt', why);
      }
      if (fields === undefined) return { bytes, skipped: [] };
      const newestVersion = kind === 'revision' ? SIGNED_REVISION_VERSION : undefined;
      const expected = { key, check: anyDocument, fields, isLong: () => true, newestVersion };
      const { signed } = runAtOnce(parseEnvelopeInSteps(bytes, expected));
      return { bytes, skipped: signed.skipped ?? [] };
    },
  };
  const read = await readChecked(store, sequence, 1);
  if (read === undefined || 'document' in read) return read?.document;
  return { corrupt: read.corrupt.error.message, sha256: read.corrupt.sha256 };
}
