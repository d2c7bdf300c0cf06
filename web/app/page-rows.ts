/** Rows of lists that are read in pages, and again. */

type Identified = { id?: string; user_id?: string; workspace?: { id: string } };

/** Returns what tells a row from others: members and the storage of workspaces have no ID of their own. */
const getId = (item: unknown): unknown => {
  const { id, user_id: userId, workspace } = item as Identified;
  return id ?? userId ?? workspace?.id ?? item;
};

/** Appends the rows that the list does not have yet: rows that were added meanwhile move others to later pages. */
export function append<Item>(items: Item[], page: Item[]): Item[] {
  const known = new Set(items.map(getId));
  return [...items, ...page.filter((item) => !known.has(getId(item)))];
}

/** Returns the fresh rows, with the previous object of each unchanged row, so that only changed rows are rendered again. */
export function keepUnchanged<Item>(before: Item[], fresh: Item[]): Item[] {
  const known = new Map(before.map((item) => [getId(item), item]));
  return fresh.map((item) => {
    const old = known.get(getId(item));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(item) ? old : item;
  });
}
