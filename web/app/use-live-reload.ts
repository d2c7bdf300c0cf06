/** Keeps data of a page current. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type LiveMessage, useLive } from "./live";

/** Events within this time share one read. */
const DELAY_MS = 250;

export type Reloadable = { reload(): Promise<void> };

/** Reloads after events of these types. `matches` selects the resources. */
export function useLiveReload(
  types: readonly string[],
  shown: Reloadable,
  matches: (entityId: string) => boolean = () => true,
): void {
  const reloader = useMemo(() => createReloader(shown), [shown]);
  const latest = useRef(matches);
  latest.current = matches;
  const listener = useMemo(
    () =>
      ({ entityId }: LiveMessage): void => {
        if (entityId === null || latest.current(entityId)) reloader.request();
      },
    [reloader],
  );
  useLive(types, listener);
  useEffect(() => reloader.stop, [reloader]);
}

/** Reads do not overlap, so that a burst of events cannot starve them. */
function createReloader(shown: Reloadable): { request(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;
  let isWanted = false;
  async function read(): Promise<void> {
    timer = undefined;
    isReading = true;
    await shown.reload();
    isReading = false;
    if (isWanted) request();
  }
  function request(): void {
    isWanted = isReading;
    if (!isReading) timer ??= setTimeout(() => void read(), DELAY_MS);
  }
  return { request, stop: () => clearTimeout(timer) };
}
