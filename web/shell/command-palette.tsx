/** Opens the palette (Ctrl+K), which is loaded after the page. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { formatKeys, useActions } from "../app/actions";
import { showToast } from "../app/toasts";
import { IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { isPaletteOpen, typedBefore } from "./navigation";

/** The page is usually shown by then. */
const PRELOAD_MS = 1_000;

const palette = signal<FunctionComponent | null>(null);

async function load(): Promise<void> {
  palette.value ??= (await import("./palette")).default;
}

let isOpening = false;

/** Opens the palette. Characters typed while it is loading go to it, not to the page. */
function openPalette(): void {
  if (isPaletteOpen.peek() || isOpening) return;
  const end = keepTyping();
  isOpening = true;
  const loading = load().then(
    () => {
      if (end.signal.aborted) return;
      isPaletteOpen.value = true;
      // The palette is shown, and has the focus, before the next task.
      setTimeout(() => end.abort());
    },
    () => {
      end.abort();
      typedBefore.value = "";
      // Unlike a page, it must not reload the user's current work.
      showToast({ kind: "bad", text: "The search could not be loaded. Reload the page." });
    },
  );
  void loading.finally(() => {
    isOpening = false;
  });
}

/** Collects typed characters until the controller is aborted, which Escape also does. */
function keepTyping(): AbortController {
  const end = new AbortController();
  const keep = (event: KeyboardEvent) => {
    const isShown = document.querySelector("dialog:modal") !== null;
    if (isShown || event.ctrlKey || event.metaKey || event.altKey) return;
    const typed = typedBefore.peek();
    if (event.key.length === 1) typedBefore.value = typed + event.key;
    else if (event.key === "Backspace") typedBefore.value = typed.slice(0, -1);
    else if (event.key === "Escape") {
      end.abort();
      typedBefore.value = "";
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("keydown", keep, { capture: true, signal: end.signal });
  return end;
}

export const PaletteButton = () => (
  <IconButton icon="search" label={`Search (${formatKeys("Mod+k")})`} onClick={openPalette} />
);

/** Opens the palette from the top bar, which all pages except those of recordings have. */
export const SearchButton = () => (
  <button type="button" class="search-button" onClick={() => openPalette()}>
    <Icon name="search" />
    <span class="truncate">Search recordings and transcripts</span>
    <kbd class="key">{formatKeys("Mod+k")}</kbd>
  </button>
);

export function CommandPalette() {
  useActions(
    () => [{ name: "palette.open", label: "Search", group: "Everywhere", keys: ["Mod+k"], perform: openPalette }],
    [],
  );
  // Loaded in advance, so that the first letters after Ctrl+K are not keys of the page.
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  const { value: Palette } = palette;
  return Palette !== null && isPaletteOpen.value ? <Palette /> : null;
}
