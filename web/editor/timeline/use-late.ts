import { useEffect, useState } from "preact/hooks";

/** Returns the value of the previous frame, for content that may lag behind a change by one frame. */
export function useLate<T>(value: T): T {
  const [late, setLate] = useState(value);
  // Effects run after the frame.
  useEffect(() => setLate(() => value), [value]);
  return late;
}
