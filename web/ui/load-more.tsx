import { useEffect, useRef } from "preact/hooks";
import type { PagedList } from "../app/cache";
import { ErrorPanel } from "./states";

/** Reloads the shown rows, then the page that failed. */
async function retry<Item>(list: PagedList<Item>): Promise<void> {
  await list.reload();
  if (list.error.value === null) list.loadMore();
}

/** Loads the next page when the end of the list is near. */
export function LoadMore<Item>({ list }: { list: PagedList<Item> }) {
  const end = useRef<HTMLDivElement>(null);
  const count = list.items.value?.length ?? 0;
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) =>
        // After an error, only the user retries, so that a failing server is not flooded with requests.
        entries.some((entry) => entry.isIntersecting) && list.error.value === null && list.loadMore(),
      {
        rootMargin: "600px",
      },
    );
    observer.observe(end.current!);
    return () => observer.disconnect();
  }, [list, count]);
  return (
    <div ref={end} class="list-end">
      {list.error.value !== null && <ErrorPanel message={list.error.value} onRetry={() => void retry(list)} />}
    </div>
  );
}
