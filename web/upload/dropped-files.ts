/** Reads dropped files, including folders. */

const MAX_FILES = 1_000;

/** Files that are read after they were dropped: folders take a while. `count` is null for folders. */
export type DroppedFiles = { count: number | null; files: Promise<File[]> };

/** Returns chosen files like dropped ones. */
export const toDropped = (files: File[]): DroppedFiles => ({ count: files.length, files: Promise.resolve(files) });

/** `prepare` is called while files are dragged over the page. */
type DropReceiver = { prepare(): void; take(dropped: DroppedFiles): void };

/** Receives the files that are dropped outside of a drop area; null while nothing can. */
let receiver: DropReceiver | null = null;

/** Passes files that are dropped outside of a drop area to a receiver, until the returned function is called. */
export function receiveOtherDrops(wanted: DropReceiver): () => void {
  receiver = wanted;
  return () => {
    if (receiver === wanted) receiver = null;
  };
}

/** Prevents the browser from opening a file that is dropped outside of a drop area. Call it once. */
export function watchOtherDrops(): void {
  const onDrag = (event: DragEvent) => {
    const isTaken = event.defaultPrevented || (event.target as Element).closest?.("input[type=file]");
    if (isTaken || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (receiver === null) event.dataTransfer.dropEffect = "none";
    else if (event.type === "drop") receiver.take(readDroppedFiles(event.dataTransfer));
    else receiver.prepare();
  };
  addEventListener("dragover", onDrag);
  addEventListener("drop", onDrag);
}

/** The folders of dropped files. */
const folders = new WeakMap<File, string>();

/** Returns the folder from which a file was dropped; empty for a file that was chosen. */
export const toFolder = (file: File): string => folders.get(file) ?? "";

/** Reads the dropped files. Folders are searched recursively; hidden files are skipped. */
export function readDroppedFiles(transfer: DataTransfer): DroppedFiles {
  // Both are read now, because the browser empties the transfer after the event.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  const plain = [...transfer.files];
  if (entries.length === 0) return toDropped(plain);
  return { count: entries.some((entry) => entry.isDirectory) ? null : entries.length, files: readEntries(entries) };
}

async function readEntries(entries: FileSystemEntry[]): Promise<File[]> {
  const found: File[] = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

async function collect(entry: FileSystemEntry, found: File[]): Promise<void> {
  if (found.length >= MAX_FILES || entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const file = await new Promise<File | null>((resolve) =>
      (entry as FileSystemFileEntry).file(resolve, () => resolve(null)),
    );
    if (!file) return;
    folders.set(file, entry.fullPath.slice(0, -entry.name.length));
    found.push(file);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader returns only part of the folder with each call.
  for (let part = await readPart(reader); part.length > 0; part = await readPart(reader))
    for (const inner of part) await collect(inner, found);
}

const readPart = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> =>
  new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
