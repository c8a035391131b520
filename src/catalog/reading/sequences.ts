import type { z } from 'zod';
import { parseEnvelope, type Sealed } from '../../store/sequence/envelope.ts';
import { defineSequence } from '../../store/sequence/sealed.ts';
import { higher, type Sequence } from '../../store/sequence/sequence.ts';
import {
  APPLICATIONS_BYTES_MAX,
  applicationsSchema,
  checkApplications,
} from '../documents/applications-document.ts';
import { applicationsKey, manifestKey, revisionKey } from '../documents/keys.ts';
import { MANIFEST_BYTES_MAX, manifestSchema } from '../documents/manifest-document.ts';
import {
  checkRevision,
  isLongList,
  REVISION_REACH,
  revisionSchema,
  SIGNED_REVISION_VERSION,
} from '../documents/revision-document.ts';
import { REVISION_BYTES_MAX } from '../documents/revision-size.ts';
import type { Trust } from '../trust/trust.ts';
import { ignoreUnreadable, readNewestHints } from './hints.ts';

/** The three sequences of a catalog: the list of applications, the revisions and the manifests. */

export type Applications = Sealed<z.output<typeof applicationsSchema>>;
export type Revision = Sealed<z.output<typeof revisionSchema>>;
export type Manifest = Sealed<z.output<typeof manifestSchema>>;

export const applicationsSequence: Sequence<Applications> = defineSequence({
  name: 'list of applications',
  schema: applicationsSchema,
  check: checkApplications,
  isLong: (name) => name === 'applications',
  corruptNewest: 'unknown',
  loss: 'This list may have named an application that an older list lacks.',
  documentBytesMax: APPLICATIONS_BYTES_MAX,
  reach: REVISION_REACH,
  key: applicationsKey,
  expected: (number) => ({ number }),
});

/**
 * @param trust verifies the signatures of the revisions, and refuses signed ones of an application without a root;
 *   undefined: signatures do not matter
 */
export function revisionSequence(application: string, trust?: Trust): Sequence<Revision> {
  return defineSequence({
    name: `catalog of ${application}`,
    schema: revisionSchema,
    check: checkRevision,
    isLong: isLongList,
    newestVersion: SIGNED_REVISION_VERSION,
    corruptNewest: 'unknown',
    loss: 'This catalog revision may have been a withdrawal.',
    documentBytesMax: REVISION_BYTES_MAX,
    reach: REVISION_REACH,
    key: (revision) => revisionKey(application, revision),
    expected: (revision) => ({ application, revision }),
    verify: trust?.of(application)?.verify ?? trust?.withoutRoot(application)?.verify,
    // A revision names the hint that is the newest at that time, so the hints of later revisions have higher numbers.
    announced: async (store, newest) => {
      const verifying = trust?.of(application);
      const [hints] = await Promise.all([
        readNewestHints(store, newest?.signed.hint ?? 0).catch(ignoreUnreadable),
        verifying?.freshness(),
        trust?.withoutRoot(application)?.look(newest),
      ]);
      return higher(hints?.announced.get(application), verifying?.floor());
    },
  });
}

export function manifestSequence(application: string, version: string): Sequence<Manifest> {
  return defineSequence({
    name: `manifest of ${application} ${version}`,
    schema: manifestSchema,
    corruptNewest: 'unknown',
    loss: `This manifest lists the files of ${version}, and perhaps files of other platforms that no other manifest lists.`,
    documentBytesMax: MANIFEST_BYTES_MAX,
    reach: REVISION_REACH,
    key: (number) => manifestKey(application, version, number),
    expected: (number) => ({ application, version, number }),
  });
}

/**
 * Parses a stored manifest in one step. Parsing the manifest of an ordinary release takes a fraction of a millisecond.
 *
 * @throws AppError `document_corrupt`, `document_newer`
 */
export function parseManifest(
  bytes: Uint8Array,
  application: string,
  version: string,
  number: number,
): Manifest {
  const key = manifestKey(application, version, number);
  return parseEnvelope(bytes, key, manifestSchema, { application, version, number });
}
