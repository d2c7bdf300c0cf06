/** Opens the palette (Ctrl+K), which is loaded after the page. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { formatKeys, useActions } from "../app/actions";
import { showToast } from "../app/toasts";
import { IconButton } from "../ui/button";
import { isPaletteOpen } from "./navigation";

/** The page is usually shown by then. */
const PRELOAD_MS = 1_000;

const palette = signal<FunctionComponent | null>(null);

async function load(): Promise<void> {
  palette.value ??= (await import("./palette")).default;
}

function openPalette(): void {
  load().then(
    () => (isPaletteOpen.value = true),
    // Unlike a page, it must not reload what the user works on.
    () => showToast({ kind: "bad", text: "The search could not be loaded. Reload the page." }),
  );
}

export const PaletteButton = () => (
  <IconButton icon="search" label={`Search (${formatKeys("Mod+k")})`} onClick={openPalette} />
);

export function CommandPalette() {
  useActions(
    useMemo(
      () => [{ name: "palette.open", label: "Search", group: "Everywhere", keys: ["Mod+k"], perform: openPalette }],
      [],
    ),
  );
  // Before it is wanted, so that the first letters after Ctrl+K are not keys of the page.
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  const { value: Palette } = palette;
  return Palette !== null && isPaletteOpen.value ? <Palette /> : null;
}
