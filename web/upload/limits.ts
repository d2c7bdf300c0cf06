/** The limits of the server, which are checked before anything is sent. */
import { api, must, type Schemas } from "../app/api";
import { type Resource, useRead } from "../app/cache";
import { formatBytes } from "../app/format";
import { type WorkspaceHeader, workspace } from "../app/session";

export type UploadLimits = Schemas["UploadLimits"];

export const readLimits = (signal?: AbortSignal, headers: WorkspaceHeader = {}): Promise<UploadLimits> =>
  must(api.GET("/api/v1/uploads/limits", { signal: signal ?? null, headers }));

export const useUploadLimits = (): Resource<UploadLimits> =>
  useRead(["upload-limits", workspace.value?.id], (signal) => readLimits(signal));

const KINDS = "Video and audio: MP4, MOV, MKV, WAV, MP3, FLAC and others";

/** Returns the sentence below a drop area. */
export function describeLimits({ max_bytes: max, free_bytes: free }: UploadLimits): string {
  if (free === 0) return "There is no free space for recordings. Delete some, or ask an administrator.";
  const size = `up to ${formatBytes(max)} a file`;
  return `${KINDS}, ${size}${free < max ? ` · ${formatBytes(free)} free` : ""}`;
}

/** Pure. Files that exceed the free space are still tried, because parts of them may have been uploaded before. */
export function checkSizes<T extends Pick<File, "name" | "size">>(
  files: readonly T[],
  { max_bytes: max, free_bytes: free }: UploadLimits,
): { kept: T[]; large: T[]; warning: string | null } {
  const large = files.filter(({ size }) => size > max);
  const kept = files.filter(({ size }) => size <= max);
  const needed = kept.reduce((sum, { size }) => sum + size, 0);
  const isTight = needed > free;
  const text = `Only ${formatBytes(free)} is free, but ${kept.length === 1 ? "the file needs" : "the files need"} ${formatBytes(needed)}.`;
  return { kept, large, warning: isTight ? `${text} Uploads stop when the space is used up.` : null };
}
