import { useEffect, useRef, useState } from 'preact/hooks';
import type { Changed, Preview, Seen } from '../../answers.ts';
import type { Change, ChangeRequest } from '../../changes/change-request.ts';
import { apiOf, type Failure, failureOf, post } from '../api.ts';
import { useSurroundings } from '../context.ts';
import { useTask } from './task.ts';

/** The changes that an operator makes: a pause without a preview, and any other change after a preview. */

interface Reviewed {
  readonly preview: Preview;
  /**
   * The revision from which the preview was made. The server refuses the change when the catalog has a newer revision.
   */
  readonly revision: number;
}

export interface ChangeState {
  readonly reviewed: Reviewed | null;
  readonly isPreviewing: boolean;
  readonly isSending: boolean;
  readonly failure: Failure | null;
  /** A sentence that the catalog is newer than the preview; null when it is not newer. */
  readonly meanwhile: string | null;
  preview(change: Change): Promise<void>;
  /** Makes the previewed change. @returns null after a failure */
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
  // Counts the requests, so that the page ignores the answer to an earlier request.
  const turn = useRef(0);

  const send = <T>(verb: 'preview' | 'change', change: Change, revision: number): Promise<T> =>
    post<T>(apiOf(app, verb), { change, revision } satisfies ChangeRequest);
  const fail = async (error: unknown) => {
    const failed = failureOf(error);
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

  // The screen polls the catalog, so a preview can become outdated before the operator confirms it.
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

interface Pausing {
  readonly isSending: boolean;
  /** A sentence about a pause that failed; null after a success, and when `tell` has shown the failure. */
  readonly failure: string | null;
  pause(): Promise<void>;
}

/** Pauses a release on every channel at once, without a question and in any revision of the catalog. */
export function usePause(
  app: string,
  version: string,
  reload: () => Promise<void>,
  { tellsFailure = false } = {},
): Pausing {
  const { tell } = useSurroundings();
  const failureText = (error: unknown) => `${version} was not paused. ${failureOf(error).message}`;
  const { isBusy, error, start } = useTask(async () => {
    const change: Change = { kind: 'pause', version, channel: null, reason: null };
    const request: ChangeRequest = { change, revision: null };
    try {
      const { sentences } = await post<Changed>(apiOf(app, 'change'), request);
      tell({ title: `${version} is paused`, sentences, paused: { app, version } });
      await reload();
    } catch (failed) {
      // A cell of a table has no space for the sentence.
      if (!tellsFailure) throw failed;
      tell({ title: failureText(failed), sentences: [], isFailure: true });
    }
  });
  const failure = error === null ? null : failureText(error);
  return { isSending: isBusy, failure, pause: start };
}
