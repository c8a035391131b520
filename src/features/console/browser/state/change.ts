import { useEffect, useRef, useState } from 'preact/hooks';
import type { Seen } from '../../answers.ts';
import type { Change, Changed, ChangeRequest, Preview } from '../../change-answers.ts';
import { apiOf, Failure, post } from '../api.ts';

/** A change with a preview before it is made. */

interface Reviewed {
  readonly preview: Preview;
  /** The revision that the preview was made from: the change is refused when there is a newer one. */
  readonly revision: number;
}

export interface ChangeState {
  readonly reviewed: Reviewed | null;
  readonly isPreviewing: boolean;
  readonly isSending: boolean;
  readonly failure: Failure | null;
  /** A sentence about a newer catalog than the previewed one; null when there is none. */
  readonly meanwhile: string | null;
  preview(change: Change): Promise<void>;
  /** Makes the previewed change. @returns null when it failed */
  confirm(change: Change): Promise<Changed | null>;
  /** Drops the preview, because the operator typed another change. */
  forget(): void;
}

interface Source {
  readonly app: string;
  readonly seen: Seen;
  /** Reads the screen's data again. */
  reload(): Promise<void>;
}

const meanwhileOf = ({ revisionBy, revision }: Seen): string =>
  `The catalog changed after your preview: ${revisionBy} made revision ${revision}.`;

export function useChange({ app, seen, reload }: Source): ChangeState {
  const [reviewed, setReviewed] = useState<Reviewed | null>(null);
  const [busy, setBusy] = useState<'preview' | 'change' | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [meanwhile, setMeanwhile] = useState<string | null>(null);
  const latest = useRef(seen);
  latest.current = seen;
  const isChanging = useRef(false);
  // Counts the requests: the answer to an earlier one is dropped.
  const turn = useRef(0);

  const send = <T>(verb: 'preview' | 'change', change: Change, revision: number): Promise<T> =>
    post<T>(apiOf(app, verb), { change, revision } satisfies ChangeRequest);
  const fail = async (error: unknown) => {
    const failed = error instanceof Failure ? error : new Failure(0, 'unknown', String(error));
    if (failed.code !== 'state_changed') return setFailure(failed);
    setReviewed(null);
    await reload();
    return setMeanwhile(`The catalog changed after your preview. ${failed.message}`);
  };
  const preview = async (change: Change) => {
    turn.current += 1;
    const mine = turn.current;
    const { revision } = latest.current;
    setBusy('preview');
    setFailure(null);
    try {
      const answer = await send<Preview>('preview', change, revision);
      if (mine === turn.current) setReviewed({ preview: answer, revision });
    } catch (error) {
      if (mine === turn.current) await fail(error);
    } finally {
      if (mine === turn.current) setBusy(null);
    }
  };
  const confirm = async (change: Change): Promise<Changed | null> => {
    if (isChanging.current || reviewed === null) return null;
    isChanging.current = true;
    setBusy('change');
    setFailure(null);
    try {
      const changed = await send<Changed>('change', change, reviewed.revision);
      setMeanwhile(null);
      return changed;
    } catch (error) {
      await fail(error);
      return null;
    } finally {
      isChanging.current = false;
      setBusy(null);
    }
  };

  // The screen follows the catalog, so a preview can become old before it is confirmed.
  useEffect(() => {
    if (reviewed === null || reviewed.revision >= seen.revision || busy === 'change') return;
    setReviewed(null);
    setMeanwhile(meanwhileOf(seen));
  }, [seen.revision, reviewed, busy]);

  return {
    reviewed,
    isPreviewing: busy === 'preview',
    isSending: busy === 'change',
    failure,
    meanwhile,
    preview,
    confirm,
    forget: () => {
      turn.current += 1;
      setReviewed(null);
      setFailure(null);
      setBusy((now) => (now === 'preview' ? null : now));
    },
  };
}
