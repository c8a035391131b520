import { useRef, useState } from 'preact/hooks';

export interface Task {
  readonly isBusy: boolean;
  /** The error of the last run; null after a success. */
  readonly error: unknown;
  start(): Promise<void>;
}

/** Work that the operator starts. However often the operator presses the button, only one run is active at a time. */
export function useTask(work: () => Promise<void>): Task {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isRunning = useRef(false);
  const start = async () => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failed) {
      setError(failed);
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return { isBusy, error, start };
}
