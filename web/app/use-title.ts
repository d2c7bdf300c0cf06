import { useEffect } from "preact/hooks";

/** Sets the title of the document while a page is open. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Offcut`;
  }, [title]);
}
