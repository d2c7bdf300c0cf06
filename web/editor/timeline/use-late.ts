import { useEffect, useState } from "preact/hooks";

/** Returns a value as it was in the frame before: for what does not have to be in the frame that shows a change. */
export function useLate<T>(value: T): T {
  const [late, setLate] = useState(value);
  // Effects run after the frame.
  useEffect(() => setLate(() => value), [value]);
  return late;
}
