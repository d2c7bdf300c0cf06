/**
 * Tracks deletions by this tab: the live event of a deletion may arrive before its response, and the page must not
 * request a resource that it has just deleted.
 */
import { useMemo } from "preact/hooks";
import type { Reloadable } from "./use-live-reload";

/** IDs are never reused. */
const deleted = new Set<string>();

/**
 * Runs the request that deletes a resource. If it fails, calls `reread` to catch up on skipped reads, and throws the
 * error.
 */
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

/** Whether this tab deletes or has deleted the resource. */
export const isDeleted = (id: unknown): boolean => deleted.has(id as string);

/** Wraps a resource so that `reload` does nothing once this tab has started to delete it. */
export const useUnlessDeleted = (resource: Reloadable, id: string | null): Reloadable =>
  useMemo(
    () => ({
      reload: async () => {
        if (id === null || !deleted.has(id)) await resource.reload();
      },
    }),
    [resource, id],
  );
