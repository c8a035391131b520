import { useRef, useState } from 'preact/hooks';
import type { Change, Changed } from '../../change-answers.ts';
import { apiOf, Failure, post } from '../api.ts';
import { useSurroundings } from '../context.ts';

export interface Pausing {
  readonly isSending: boolean;
  readonly failure: string | null;
  pause(reason?: string): Promise<void>;
}

/** Pauses a release at once on every channel, without a question and whatever the revision is. */
export function usePause(
  app: string,
  version: string,
  reload: () => Promise<void>,
  { tellsFailure = false } = {},
): Pausing {
  const { tell } = useSurroundings();
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const isBusy = useRef(false);
  const pause = async (reason = '') => {
    if (isBusy.current) return;
    isBusy.current = true;
    setSending(true);
    setFailure(null);
    const change: Change = { kind: 'pause', version, channel: null, reason: reason.trim() || null };
    try {
      const answer = await post<Changed>(apiOf(app, 'change'), { change, revision: null });
      tell({
        title: `${version} is paused`,
        sentences: answer.sentences,
        paused: { app, version },
      });
      await reload();
    } catch (error) {
      const why = error instanceof Failure ? error.message : String(error);
      const title = `${version} was not paused. ${why}`;
      // A cell of a table has no room for the sentence.
      if (tellsFailure) tell({ title, sentences: [], paused: null, isFailure: true });
      else setFailure(title);
    } finally {
      isBusy.current = false;
      setSending(false);
    }
  };
  return { isSending, failure, pause };
}
