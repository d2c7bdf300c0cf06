/** Decides at startup whether the media folder can be used, from marker files in it and in the data folder. */

/** Folders in the media folder. The server creates, moves and removes everything in them. */
export const MEDIA_FOLDERS = ["uploads", "media", "renders", "exports", "trash", "work"] as const;

/** Marker files. The first line is the ID of the data folder. The one in the media folder is next to the media. */
export const DATA_MARKER_NAME = "offcut-data.id";
export const MEDIA_MARKER_NAME = "offcut-media.id";

export const formatMarker = (id: string): string =>
  `${id}\nOffcut does not change this folder while this file is missing. Keep it, and move it with the other files.\n`;

export const parseMarker = (text: string): string | null => /^[0-9a-f-]{36}(?=\r?\n|$)/.exec(text)?.[0] ?? null;

/** A folder that may contain media. `marker`: the ID in its marker file. `hasFiles`: a folder but `work` has files. */
export type FolderFacts = { marker: string | null; hasFiles: boolean };

/**
 * `id` is the ID of the data folder; null before it has one. `hasDatabase`: whether the data folder has a database.
 * `media` is the configured media folder; null if it is the data folder. `unmounted` is the mount point of the media
 * folder if it should be mounted and is not.
 */
export type StartFacts = {
  id: string | null;
  hasDatabase: boolean;
  data: FolderFacts;
  media: (FolderFacts & { unmounted: string | null }) | null;
};

/**
 * Why a start is rejected. `no_data`: the media folder belongs to a data folder that is missing; `no_database`: the
 * data folder has media but no database; `foreign`: the media folder belongs to another data folder; `not_moved`: the
 * files are still in the data folder; `unmarked`: the media folder has files and no marker; `unmounted`: it would be
 * created below an unmounted mount point.
 */
export type StartRefusal = "no_data" | "no_database" | "foreign" | "not_moved" | "unmarked" | "unmounted";

/** `use`: the media folder has the right marker. `create`: it gets one. `offline`: the server starts without it. */
export type StartDecision = "use" | "create" | "offline" | StartRefusal;

/**
 * Decides how to use the media folder. A new marker is never created where one should exist, and files are never
 * adopted without a database that refers to them, because the sweep would remove them all.
 */
export function decideMediaFolder({ id, hasDatabase, data, media }: StartFacts): StartDecision {
  const { marker } = media ?? data;
  if (marker !== null && marker !== id) return hasDatabase || media === null ? "foreign" : "no_data";
  if (!hasDatabase && data.hasFiles) return "no_database";
  if (!hasDatabase && media?.hasFiles) return marker === null ? "unmarked" : "no_data";
  if (marker !== null) return "use";
  if (media === null) return id === null || data.hasFiles ? "create" : "offline";
  // Neither folder has the marker, so the files are in a folder that is offline.
  if (id !== null && data.marker === null) return "offline";
  if (data.hasFiles) return "not_moved";
  if (media.hasFiles) return "unmarked";
  return media.unmounted === null ? "create" : "unmounted";
}

/** Resolved paths. `media` and `backup` are null if not configured, or not folders on this machine. */
export type ConfiguredFolders = { data: string; media: string | null; backup: string | null };

/** Returns why the folders cannot be used together, or null. */
export function findFolderConflict({ data, media, backup }: ConfiguredFolders): string | null {
  if (media === null || media === data) return null;
  if (isInside(media, data)) return `media_dir ${media} must not be inside data_dir ${data}. Choose a folder outside.`;
  if (isInside(data, media)) return `data_dir ${data} must not be inside media_dir ${media}. Choose a folder outside.`;
  if (backup === null) return null;
  if (isInside(backup, media) || isInside(media, backup))
    return `media_dir ${media} and backup_to ${backup} must not contain each other. Choose separate folders.`;
  return null;
}

/** Returns whether a path is inside a folder or the folder itself. Both are resolved. */
export const isInside = (path: string, folder: string): boolean =>
  `${path}/`.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
