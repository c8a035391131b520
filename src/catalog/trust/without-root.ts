import { AppError, isAppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { isPresent } from '../../store/presence.ts';
import { endsWithSignatures, type Sealed } from '../../store/sequence/envelope.ts';
import { revisionKey, rootKey } from '../documents/keys.ts';
import type { RevisionJson } from '../documents/revision-document.ts';
import { REVISION_BYTES_MAX } from '../documents/revision-size.ts';

/**
 * An application whose root of trust this process does not have. When the application is signed, the operator of the
 * process has most likely forgotten TRUST_ROOT, so the process neither serves nor changes it.
 *
 * This is no defence against an attacker who writes the bucket: the attacker can delete each object that shows that the
 * application is signed. An attacker can also store such an object, which does what garbage in its place would do.
 */
export interface RootlessApplication {
  /**
   * Refuses a signed revision, unless the operator wants no verification. Reads no store, so that a process can check
   * its saved state while the store is down.
   *
   * @throws AppError `root_missing`
   */
  verify(revision: MaybeSigned): Promise<void>;
  /**
   * Looks in the store for the root, and for a signed revision before the newest one. Once it has found neither, it
   * never reads the store again: the process then verifies every later revision itself.
   *
   * @param newest the newest revision; undefined when there is none
   * @throws AppError `root_missing` for a signed application, unless the operator wants no verification;
   *   `store_unavailable`, `store_denied`
   */
  look(newest: MaybeSigned | undefined): Promise<void>;
  /**
   * Refuses a change of a signed application, also when the operator wants no verification: no service with the root
   * accepts an unsigned revision, and a service without it would take the application for unsigned from then on.
   *
   * @throws AppError `root_missing`, `store_unavailable`, `store_denied`
   */
  refuseChange(newest: MaybeSigned | undefined): Promise<void>;
  /** True when the process uses a signed application without verification, because TRUST_UNSIGNED names it. */
  isUnverified(): boolean;
}

interface MaybeSigned extends Pick<Sealed<unknown>, 'signatures'> {
  readonly signed: Pick<RevisionJson, 'revision' | 'trust'>;
}

interface RootlessDeps {
  readonly store: Pick<ObjectStore, 'get'>;
  readonly application: string;
  /** True when TRUST_UNSIGNED names the application. */
  readonly isUnsigned: boolean;
}

export function createRootlessApplication(deps: RootlessDeps): RootlessApplication {
  const { application, isUnsigned } = deps;
  let evidence: string | undefined;
  let isClear = false;

  /** @returns true for a signed revision */
  const note = ({ signed, signatures = [] }: MaybeSigned): boolean => {
    if (signed.trust === undefined && signatures.length === 0) return false;
    evidence = revisionKey(application, signed.revision);
    isClear = false;
    return true;
  };
  const refuse = (wants: Wanted): void => {
    const refusal = decideRootless(application, { evidence, isUnsigned, wants });
    if (refusal !== undefined) throw new AppError('root_missing', refusal);
  };
  const search = async (newest: MaybeSigned | undefined): Promise<void> => {
    if (newest !== undefined && note(newest)) return;
    // The operator knows that an application in TRUST_UNSIGNED is signed: no poll looks again.
    if (isClear || (isUnsigned && evidence !== undefined)) return;
    evidence = await findEvidence(deps, newest?.signed.revision ?? 0);
    isClear = evidence === undefined;
  };

  return {
    isUnverified: () => isUnsigned && evidence !== undefined,
    verify: async (revision) => {
      if (note(revision)) refuse('read');
    },
    look: async (newest) => {
      await search(newest);
      refuse('read');
    },
    refuseChange: async (newest) => {
      await search(newest);
      refuse('change');
    },
  };
}

/** @returns the key of the root, or of the revision before the newest one when it is signed */
async function findEvidence(
  { store, application }: RootlessDeps,
  newest: number,
): Promise<string | undefined> {
  const root = rootKey(application, 1);
  const before = revisionKey(application, newest - 1);
  const [hasRoot, isBeforeSigned] = await Promise.all([
    isPresent(store, root),
    newest > 1 && isSigned(store, before),
  ]);
  if (hasRoot) return root;
  return isBeforeSigned ? before : undefined;
}

/** Does not parse the revision: for a large one, that takes longer than the whole start of the application. */
async function isSigned(store: RootlessDeps['store'], key: string): Promise<boolean> {
  try {
    const stored = await store.get(key, { bytesMax: REVISION_BYTES_MAX });
    return stored !== undefined && endsWithSignatures(stored.body);
  } catch (error) {
    if (isAppError(error, 'document_too_large')) return false;
    throw error;
  }
}

type Wanted = 'read' | 'change';

interface RootlessFacts {
  /** The key of the object that shows that the application is signed; undefined: nothing shows it. */
  readonly evidence: string | undefined;
  /** True when TRUST_UNSIGNED names the application. */
  readonly isUnsigned: boolean;
  readonly wants: Wanted;
}

/** Why a process without the root must not read or change an application; undefined when it may. */
export function decideRootless(
  application: string,
  { evidence, isUnsigned, wants }: RootlessFacts,
): string | undefined {
  if (evidence === undefined) return undefined;
  if (isUnsigned && wants === 'read') return undefined;
  const sentences = [
    `The catalog of ${application} is signed, as ${evidence} shows, and no root of trust is installed here.`,
    `Set TRUST_ROOT to the root file of ${application}, which "slipway trust init" wrote.`,
    isUnsigned
      ? 'TRUST_UNSIGNED only lets a process read and serve it.'
      : `To read and serve it without any verification, name ${application} in TRUST_UNSIGNED.`,
    `If no person ran "slipway trust init" for ${application}, delete ${evidence}.`,
  ];
  if (evidence === rootKey(application, 1)) {
    sentences.push('If "slipway trust init" stopped half way, run it again.');
  }
  return sentences.join(' ');
}
