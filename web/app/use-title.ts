import { useEffect } from "preact/hooks";

/** Sets the document title while a page is open. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Offcut`;
  }, [title]);
}
