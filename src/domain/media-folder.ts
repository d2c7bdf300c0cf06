/** Decides at the start of a server whether its media folder can be used, from the marker files in it and in the data folder. */

/** Folders below the media folder. Everything in them is made, moved and removed by the server. */
export const MEDIA_FOLDERS = ["uploads", "media", "renders", "exports", "trash", "work"] as const;

/** Marker files. Each has the ID of the data folder in its first line. That of the media folder is where the media files are. */
export const DATA_MARKER_NAME = "offcut-data.id";
export const MEDIA_MARKER_NAME = "offcut-media.id";

/** Formats a marker file. */
export const formatMarker = (id: string): string =>
  `${id}\nOffcut changes nothing in this folder while this file is missing. Keep it, and move it with the other files.\n`;

/** Returns the ID in a marker file; null when it has none. */
export const parseMarker = (text: string): string | null => /^[0-9a-f-]{36}(?=\r?\n|$)/.exec(text)?.[0] ?? null;

/** A folder that may have the media. `marker`: the ID in its marker file. `hasFiles`: one of `MEDIA_FOLDERS` but `work` is not empty. */
export type FolderFacts = { marker: string | null; hasFiles: boolean };

/**
 * `id`: the ID of the data folder; null before it has one. `hasDatabase`: the data folder has a database. `media`: the configured media folder; null
 * when it is the data folder. `unmounted`: the mount point at or above the media folder that should be mounted and is not.
 */
export type StartFacts = {
  id: string | null;
  hasDatabase: boolean;
  data: FolderFacts;
  media: (FolderFacts & { unmounted: string | null }) | null;
};

/**
 * Why a start is refused. `no_data`: the media folder belongs to a data folder that is not there; `no_database`: the data folder has media but no
 * database; `foreign`: the media folder belongs to another data folder; `not_moved`: the files are still in the data folder; `unmarked`: the media
 * folder has files and no marker; `unmounted`: it would be created below a mount point where nothing is mounted.
 */
export type StartRefusal = "no_data" | "no_database" | "foreign" | "not_moved" | "unmarked" | "unmounted";

/** `use`: the media folder has the right marker. `create`: it gets one. `offline`: the server starts without it. */
export type StartDecision = "use" | "create" | "offline" | StartRefusal;

/**
 * Returns what becomes of the media folder. A new marker is never created where one should be, and files are never taken over without a database that
 * names them: the sweep would remove them all.
 */
export function decideMediaFolder({ id, hasDatabase, data, media }: StartFacts): StartDecision {
  const { marker } = media ?? data;
  if (marker !== null && marker !== id) return hasDatabase || media === null ? "foreign" : "no_data";
  if (!hasDatabase && data.hasFiles) return "no_database";
  if (!hasDatabase && media?.hasFiles) return marker === null ? "unmarked" : "no_data";
  if (marker !== null) return "use";
  if (media === null) return id === null || data.hasFiles ? "create" : "offline";
  // The marker is neither here nor in the data folder: the files are in a folder that is away.
  if (id !== null && data.marker === null) return "offline";
  if (data.hasFiles) return "not_moved";
  if (media.hasFiles) return "unmarked";
  return media.unmounted === null ? "create" : "unmounted";
}

/** Resolved paths. `media` and `backup` null: not configured, or not a folder of this machine. */
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

/** Returns whether a path is a folder or below it. Both are resolved. */
export const isInside = (path: string, folder: string): boolean =>
  `${path}/`.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
