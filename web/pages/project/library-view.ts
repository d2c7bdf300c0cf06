/** How a user looks at recordings: cards or a list, its columns and order. Kept in the browser for each user. */
import { computed } from "@preact/signals";
import { narrow, watchMedia } from "../../app/narrow";
import { createSetting } from "../../app/settings";
import type { Recording } from "./recording";

export const ASSET_SORTS = [
  { value: "-created_at", label: "Newest first" },
  { value: "created_at", label: "Oldest first" },
  { value: "name", label: "Name, A to Z" },
  { value: "-name", label: "Name, Z to A" },
  { value: "-duration_seconds", label: "Longest first" },
  { value: "duration_seconds", label: "Shortest first" },
] as const;
export type AssetSort = (typeof ASSET_SORTS)[number]["value"];

/** Returns the value by which the server sorts a recording. Like the server, ignores case only for A to Z. */
function toSortValue({ name, filename, created_at, duration_seconds }: Recording, sort: AssetSort): string | number {
  if (sort.endsWith("name")) return (name ?? filename ?? "").replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return sort.endsWith("created_at") ? Date.parse(created_at) : Number(duration_seconds ?? 0);
}

/** Returns a number below 0 if `one` is above `other` in the list, or 0 if only their IDs decide. Pure. */
export function comparePlaces(one: Recording, other: Recording, sort: AssetSort): number {
  const [a, b] = [toSortValue(one, sort), toSortValue(other, sort)];
  return a === b ? 0 : a < b === sort.startsWith("-") ? 1 : -1;
}

export const COLUMNS = [
  { value: "length", label: "Length" },
  { value: "marks", label: "To review" },
  { value: "render", label: "Last render" },
  { value: "creator", label: "Added by" },
  { value: "added", label: "Added" },
  { value: "size", label: "Size" },
  { value: "tags", label: "Tags" },
] as const;
export type ColumnName = (typeof COLUMNS)[number]["value"];

export type LibraryView = { look: "grid" | "list"; sort: AssetSort; columns: readonly ColumnName[] };

const DEFAULT: LibraryView = {
  look: "grid",
  sort: "-created_at",
  columns: ["length", "marks", "render", "creator", "added"],
};

/** The user's choices. Unknown choices, such as those of another version, become the default. */
export const libraryView = createSetting("library", DEFAULT, readView);

export function changeView(change: Partial<LibraryView>): void {
  libraryView.value = { ...libraryView.peek(), ...change };
}

function readView(stored: unknown): LibraryView {
  const { look, sort, columns } = stored as Partial<LibraryView>;
  return {
    look: look === "list" ? "list" : DEFAULT.look,
    sort: ASSET_SORTS.find(({ value }) => value === sort)?.value ?? DEFAULT.sort,
    columns: Array.isArray(columns)
      ? COLUMNS.map(({ value }) => value).filter((name) => columns.includes(name))
      : DEFAULT.columns,
  };
}

const isNarrow = watchMedia(narrow);

/** On a phone, there are no columns: cards are rows. */
export const isList = computed(() => libraryView.value.look === "list" && !isNarrow.value);
