/** Opens the palette (Ctrl+K), which is loaded when it is first wanted. */
import { useEffect, useMemo } from "preact/hooks";
import { ErrorBoundary } from "preact-iso";
import { formatKeys, useActions } from "../app/actions";
import { lazyPage } from "../app/lazy-page";
import { IconButton } from "../ui/button";
import { isPaletteOpen } from "./navigation";

/** The page is usually shown by then. */
const PRELOAD_MS = 1_000;

const Palette = lazyPage(() => import("./palette"));

export const PaletteButton = () => (
  <IconButton icon="search" label={`Search (${formatKeys("Mod+k")})`} onClick={() => (isPaletteOpen.value = true)} />
);

export function CommandPalette() {
  useActions(
    useMemo(
      () => [
        {
          name: "palette.open",
          label: "Search",
          group: "Everywhere",
          keys: ["Mod+k"],
          perform: () => (isPaletteOpen.value = true),
        },
      ],
      [],
    ),
  );
  // Loaded before it is wanted, so that the first letters after Ctrl+K are not keys of the page.
  useEffect(() => {
    const timer = setTimeout(() => void Palette.preload(), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return isPaletteOpen.value ? (
    <ErrorBoundary>
      <Palette />
    </ErrorBoundary>
  ) : null;
}
