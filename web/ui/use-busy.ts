import { useState } from "preact/hooks";
import { showFailure } from "../app/toasts";

type Busy = {
  isBusy: boolean;
  /** The error of the last work, if its component shows it; otherwise null. */
  error: unknown;
  /** Runs the work of a button, which is busy until it ends. Shows its error. */
  run(work: () => Promise<unknown>): Promise<void>;
};

/** `isShown`: the component shows errors beside the button. Otherwise they are messages of the page. */
export function useBusy({ isShown = false } = {}): Busy {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<unknown>) => {
    setIsBusy(true);
    setError(null);
    try {
      await work();
    } catch (thrown) {
      if (isShown) setError(thrown);
      else showFailure(thrown);
    } finally {
      setIsBusy(false);
    }
  };
  return { isBusy, error, run };
}
