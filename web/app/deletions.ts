/** Deletions by this tab: the live event of one may arrive before its answer, and the page must not read what it has just deleted. */
import { useMemo } from "preact/hooks";
import type { Reloadable } from "./use-live-reload";

/** IDs are never used again. */
const deleted = new Set<string>();

/** Runs the request that deletes a resource. If it fails, the error is thrown, and what was not read meanwhile is read. */
export async function runDeletion(id: string, request: Promise<unknown>, reread: () => unknown): Promise<void> {
  deleted.add(id);
  try {
    await request;
  } catch (error) {
    deleted.delete(id);
    void reread();
    throw error;
  }
}

/** Returns the reloading of a resource, which does nothing once this tab deletes the resource. */
export const useUnlessDeleted = (resource: Reloadable, id: string | null): Reloadable =>
  useMemo(
    () => ({
      reload: async () => {
        if (id === null || !deleted.has(id)) await resource.reload();
      },
    }),
    [resource, id],
  );
