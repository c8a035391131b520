import { useEffect, useRef, useState } from 'preact/hooks';
import type { Change, Changed, ChangeRequest, Preview, Seen } from '../../../console/answers.ts';
import { apiOf, Failure, post } from '../api.ts';

/** A change that is looked at before it is made. */

export interface Reviewed {
  readonly preview: Preview;
  /** The revision that the preview was made from: the change is refused when there is a newer one. */
  readonly revision: number;
}

export interface ChangeState {
  readonly reviewed: Reviewed | null;
  readonly isPreviewing: boolean;
  readonly isSending: boolean;
  readonly failure: Failure | null;
  /** What another person changed since this person looked; null: nothing. */
  readonly meanwhile: string | null;
  preview(change: Change): Promise<void>;
  /** Makes the change that was looked at. @returns null when it failed */
  confirm(change: Change): Promise<Changed | null>;
  /** What was looked at is another change than the one that is now typed. */
  forget(): void;
}

interface Source {
  readonly app: string;
  readonly seen: Seen;
  /** Reads the screen's data again. */
  reload(): Promise<void>;
}

const meanwhileOf = ({ revisionBy, revision }: Seen): string =>
  `Another person changed the catalog meanwhile: ${revisionBy}, revision ${revision}.`;

export function useChange({ app, seen, reload }: Source): ChangeState {
  const [reviewed, setReviewed] = useState<Reviewed | null>(null);
  const [busy, setBusy] = useState<'preview' | 'change' | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [meanwhile, setMeanwhile] = useState<string | null>(null);
  const latest = useRef(seen);
  latest.current = seen;
  const isBusy = useRef(false);
  const last = useRef<Change | null>(null);

  const send = async <T>(verb: 'preview' | 'change', change: Change, revision: number) => {
    if (isBusy.current) return null;
    isBusy.current = true;
    setBusy(verb);
    setFailure(null);
    try {
      const request: ChangeRequest = { change, revision };
      return await post<T>(apiOf(app, verb), request);
    } catch (error) {
      const failed = error instanceof Failure ? error : new Failure(0, 'unknown', String(error));
      if (failed.code === 'state_changed') await showChanged();
      else setFailure(failed);
      return null;
    } finally {
      isBusy.current = false;
      setBusy(null);
    }
  };
  const showChanged = async () => {
    setReviewed(null);
    await reload();
    setMeanwhile('Another person changed the catalog meanwhile.');
  };
  const preview = async (change: Change) => {
    last.current = change;
    const { revision } = latest.current;
    const answer = await send<Preview>('preview', change, revision);
    if (answer !== null) setReviewed({ preview: answer, revision });
  };

  // The screen follows the catalog, so what was looked at can become old before it is confirmed.
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
    confirm: (change) =>
      reviewed === null ? Promise.resolve(null) : send('change', change, reviewed.revision),
    forget: () => {
      setReviewed(null);
      setFailure(null);
    },
  };
}
