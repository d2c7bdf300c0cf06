/** Points in time to which a data folder can be restored, from database snapshots and the trash of deleted files. */
import { DATABASE_NAME, formatBackupName, parseBackupName } from "./backup";
import { HOUR_MS } from "./time";

export const SNAPSHOTS_FOLDER = "snapshots";
export const TRASH_FOLDER = "trash";
/** Time for which snapshots and deleted files are kept. Together they restore any hour in it. */
export const POINT_IN_TIME_MS = 48 * HOUR_MS;

const SNAPSHOT_SUFFIX = ".db.zst";

/** Returns the name of a snapshot: `offcut-2027-01-31T02-00-00Z.db.zst`. */
export const formatSnapshotName = (time: number): string => `${formatBackupName(time)}${SNAPSHOT_SUFFIX}`;

/** Returns the time in the name of a snapshot, in milliseconds since 1970; null for any other name. */
export const parseSnapshotName = (name: string): number | null =>
  name.endsWith(SNAPSHOT_SUFFIX) ? parseBackupName(name.slice(0, -SNAPSHOT_SUFFIX.length)) : null;

/** A snapshot is taken this long before the hour ends, so that the state at 14:00 is in one that is not newer. */
const LEAD_MS = 10_000;

/** Returns the last time before `now` at which a snapshot was due. */
export const findLastSnapshotTime = (now: number): number => Math.floor((now + LEAD_MS) / HOUR_MS) * HOUR_MS - LEAD_MS;

/** Returns the milliseconds from `now` until the next snapshot is due. */
export const getSnapshotDelay = (now: number): number => findLastSnapshotTime(now) + HOUR_MS - now;

/**
 * Returns the snapshots to remove, by their times. The newest one older than 48 hours is kept, because it is the state
 * at the beginning of that time. Times in the future are kept, because the clock may be wrong temporarily.
 */
export function selectSnapshotsToRemove(times: readonly number[], now: number): number[] {
  const oldest = Math.max(...times.filter((time) => time <= now - POINT_IN_TIME_MS));
  return times.filter((time) => time < oldest);
}

/** Folders whose deleted entries go to the trash. */
export const KEPT_FOLDERS = ["media", "renders", "uploads"] as const;

/**
 * A deleted file or folder: `folder` and `name` are its former place. `isStray`: it is a folder with something that no
 * row knows, and that was in the folder of `name`.
 */
export type TrashEntry = { time: number; folder: string; name: string; isStray: boolean };

/** The end of the name of an entry with something that no row knows. */
export const STRAY_SUFFIX = ".stray";
/** The name in such an entry when its content was in the folder of no recording or render. */
export const STRAY_OWNER = "_";

const TRASH_NAME = new RegExp(
  `^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\\.(${KEPT_FOLDERS.join("|")})\\.([\\w-]{1,200})(\\${STRAY_SUFFIX})?$`,
);

/** Parses `<UUIDv7>.<folder>.<name>`, also with `.stray`. Returns null for another name. The UUID contains the time. */
export function parseTrashName(entry: string): TrashEntry | null {
  const [, high, low, folder, name, stray] = TRASH_NAME.exec(entry) ?? [];
  if (folder === undefined || name === undefined) return null;
  return { time: Number.parseInt(`${high}${low}`, 16), folder, name, isStray: stray !== undefined };
}

/** Returns the original path of a deleted file, or the path itself if it is not in the trash. */
export function toFormerPath(path: string): string {
  const [folder, entry = "", ...rest] = path.split("/");
  const former = folder === TRASH_FOLDER ? parseTrashName(entry) : null;
  if (former === null) return path;
  return [former.folder, ...(former.name === STRAY_OWNER ? [] : [former.name]), ...rest].join("/");
}

/** A copy of the database that can be restored. `path` is the path of the database or snapshot. */
export type RecordedState = { path: string; time: number };

/** Lists the states among the files of a backup made at `time`, or of a data folder. */
export function listStates(paths: Iterable<string>, time: number): RecordedState[] {
  const states: RecordedState[] = [];
  for (const path of paths) {
    if (path === DATABASE_NAME) states.push({ path, time });
    const [folder, name = "", extra] = path.split("/");
    const snapshot = folder === SNAPSHOTS_FOLDER && extra === undefined ? parseSnapshotName(name) : null;
    if (snapshot !== null) states.push({ path, time: snapshot });
  }
  return states;
}

/** Returns the newest state that is not newer than `at`, or null. */
export const findStateAt = (states: readonly RecordedState[], at: number): RecordedState | null =>
  states
    .filter(({ time }) => time <= at)
    .reduce<RecordedState | null>((best, state) => (best === null || state.time > best.time ? state : best), null);

/** An asset or a render with files, as listed in a copy of the database. `is_complete`: its main file must exist. */
export type RowWithFiles = { id: string; is_complete: boolean };

export type SelectedFile = { from: string; to: string };

type RowsWithFiles = { assets: readonly RowWithFiles[]; renders: readonly RowWithFiles[] };

/** The places in which the files of a row may be. */
type RowPlaces = { live: string[]; deleted: Map<string, { time: number; paths: string[] }> };

/**
 * Selects the files that belong to a state of the database at `time`, and their locations: files that were deleted
 * since come from the trash. Files that were already in the trash stay there. `missing` lists the main files of rows
 * that are not in `paths`.
 */
export function selectFiles(
  paths: Iterable<string>,
  rows: RowsWithFiles,
  time: number,
): { files: SelectedFile[]; missing: string[] } {
  const files: SelectedFile[] = [];
  const keep = (path: string) => files.push({ from: path, to: path });
  const places = new Map<string, RowPlaces>();
  const strays: { path: string; owner: string; time: number }[] = [];
  for (const path of paths) {
    const [folder = "", name = ""] = path.split("/");
    const snapshot = folder === SNAPSHOTS_FOLDER ? parseSnapshotName(name) : null;
    if (folder === "models" || (snapshot !== null && snapshot <= time)) keep(path);
    const deleted = folder === TRASH_FOLDER ? parseTrashName(name) : null;
    if (deleted?.isStray) {
      strays.push({ path, owner: `${deleted.folder}/${deleted.name}`, time: deleted.time });
      continue;
    }
    if (deleted === null && !(KEPT_FOLDERS as readonly string[]).includes(folder)) continue;
    const key = deleted === null ? `${folder}/${name}` : `${deleted.folder}/${deleted.name}`;
    const found: RowPlaces = places.get(key) ?? { live: [], deleted: new Map() };
    places.set(key, found);
    if (deleted === null) found.live.push(path);
    else {
      const entry = found.deleted.get(name) ?? { time: deleted.time, paths: [] };
      found.deleted.set(name, entry);
      entry.paths.push(path);
    }
  }
  const [assetIds, renderIds] = [rows.assets, rows.renders].map((list) => new Set(list.map(({ id }) => id)));
  const hasRow = (key: string) => {
    const [folder, name = ""] = key.split("/");
    return (folder === "renders" ? renderIds! : assetIds!).has(name);
  };
  for (const [key, found] of places) {
    const chosen = hasRow(key) ? choosePlace(found, time) : [];
    for (const path of chosen) files.push({ from: path, to: toFormerPath(path) });
    for (const entry of found.deleted.values())
      if (entry.time <= time && entry.paths !== chosen) for (const path of entry.paths) keep(path);
  }
  const restored = new Set(files.map(({ to }) => to));
  for (const { path, owner, time: deletedAt } of strays) {
    const to = toFormerPath(path);
    if (deletedAt <= time) keep(path);
    else if (hasRow(owner) && !restored.has(to)) files.push({ from: path, to });
  }
  return { files, missing: findMissing(files, rows) };
}

/**
 * Returns the files of a row at `time`: the first ones deleted after it, otherwise those that were not deleted. A
 * deletion just before `time` may be newer than the state, whose name is rounded up.
 */
function choosePlace({ live, deleted }: RowPlaces, time: number): string[] {
  const entries = [...deleted.values()].sort((a, b) => a.time - b.time);
  const next = entries.find((entry) => entry.time > time);
  if (next !== undefined) return next.paths;
  return live.length > 0 ? live : (entries.at(-1)?.paths ?? []);
}

function findMissing(files: readonly SelectedFile[], { assets, renders }: RowsWithFiles): string[] {
  const listComplete = (rows: readonly RowWithFiles[]) => rows.filter((row) => row.is_complete).map(({ id }) => id);
  const sources = listComplete(assets).map((id) => `media/${id}/source`);
  const folders = listComplete(renders).map((id) => `renders/${id}`);
  const present = new Set(files.flatMap(({ to }) => [to, to.split("/", 2).join("/")]));
  return [...sources, ...folders].filter((path) => !present.has(path));
}
