import { useState } from "preact/hooks";
import { showFailure } from "../app/toasts";
import { Button, type ButtonProps } from "./button";

type Busy = {
  isBusy: boolean;
  /** The last error, if the component shows it; otherwise null. */
  error: unknown;
  /** Runs the work of a button and shows its error. The button is busy until the work ends. */
  run(work: () => Promise<unknown>): Promise<void>;
};

/** `isShown`: whether the component shows errors beside the button. Otherwise they appear as toasts. */
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

type BusyButtonProps = Omit<ButtonProps, "onClick" | "isBusy"> & { work(): Promise<unknown> };

/** A button that is busy while its work runs. An error appears as a toast. */
export function BusyButton({ work, ...rest }: BusyButtonProps) {
  const { isBusy, run } = useBusy();
  return <Button {...rest} isBusy={isBusy} onClick={() => void run(work)} />;
}
