/** Reads dropped files, including folders. */

const MAX_FILES = 1_000;

/** Receives the files that are dropped outside of a drop area; null while nothing can. */
let receive: ((files: File[]) => void) | null = null;

/** Passes files that are dropped outside of a drop area to `take`, until the returned function is called. */
export function receiveOtherDrops(take: (files: File[]) => void): () => void {
  receive = take;
  return () => {
    if (receive === take) receive = null;
  };
}

/** Prevents the browser from opening a file that is dropped outside of a drop area. Call it once. */
export function watchOtherDrops(): void {
  const onDrag = (event: DragEvent) => {
    const isTaken = event.defaultPrevented || (event.target as Element).closest?.("input[type=file]");
    if (isTaken || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (receive === null) event.dataTransfer.dropEffect = "none";
    else if (event.type === "drop") void readDroppedFiles(event.dataTransfer).then(receive);
  };
  addEventListener("dragover", onDrag);
  addEventListener("drop", onDrag);
}

/** The folders of dropped files. */
const folders = new WeakMap<File, string>();

/** Returns the folder from which a file was dropped; empty for a file that was chosen. */
export const toFolder = (file: File): string => folders.get(file) ?? "";

/** Returns the dropped files. Folders are searched recursively; hidden files are skipped. */
export async function readDroppedFiles(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  // The files are copied before the first `await`, because the browser empties the transfer after the event.
  const plain = [...transfer.files];
  if (entries.length === 0) return plain;
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
    if (!file || file.size === 0) return;
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
