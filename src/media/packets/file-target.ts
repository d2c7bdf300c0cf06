/** Writes the muxer's output to a file without copying packets. The library's own target copies each three times. */
import { type FileHandle, open } from "node:fs/promises";
import { Target } from "mediabunny";
import { writeChunks } from "../../lib/file-bytes";

/** Smaller data is copied: the muxer writes boxes in small steps, from a buffer that it uses again. */
const MIN_PACKET_BYTES = 512;
const COPY_BYTES = 64 * 1024;

type WrittenPart = { position: number; bytes: Uint8Array };

/** Internal methods, which the library does not export. The muxer calls `_flush` after each half second of media. */
type TargetMethods = {
  _start(): void;
  _write(bytes: Uint8Array, position: number): void;
  _flush(): Promise<void>;
  _finalize(): Promise<void>;
  _close(): Promise<void>;
};

/** Packets must not change until they are written. Errors: those of the file system, from the muxer's methods. */
export class FileTarget extends Target implements TargetMethods {
  private file: Promise<FileHandle> | null = null;
  private parts: WrittenPart[] = [];
  private copies = new Uint8Array(COPY_BYTES);
  private copiedBytes = 0;
  private lastCopy: WrittenPart | null = null;

  constructor(private readonly path: string) {
    super();
  }

  _start(): void {
    this.file = open(this.path, "w");
    this.file.catch(() => {});
  }

  _write(bytes: Uint8Array, position: number): void {
    if (bytes.length >= MIN_PACKET_BYTES) this.parts.push({ position, bytes });
    else if (!this.writeIntoLastCopy(bytes, position)) {
      if (this.copiedBytes + bytes.length > COPY_BYTES) {
        this.copies = new Uint8Array(COPY_BYTES);
        this.copiedBytes = 0;
      }
      this.copies.set(bytes, this.copiedBytes);
      const copy = this.copies.subarray(this.copiedBytes, this.copiedBytes + bytes.length);
      this.copiedBytes += bytes.length;
      this.lastCopy = { position, bytes: copy };
      this.parts.push(this.lastCopy);
    }
  }

  async _flush(): Promise<void> {
    const parts = this.parts;
    this.parts = [];
    this.lastCopy = null;
    try {
      const file = await this.file!;
      for (let n = 0; n < parts.length; ) {
        const { position } = parts[n]!;
        const chunks: Uint8Array[] = [];
        for (let end = position; parts[n]?.position === end; end += parts[n++]!.bytes.length)
          chunks.push(parts[n]!.bytes);
        await writeChunks(file, chunks, position);
      }
    } catch (error) {
      // The muxer does not close a file to which it cannot write the first box.
      await this._close().catch(() => {});
      throw error;
    }
  }

  async _finalize(): Promise<void> {
    await this._flush();
    await this._close();
  }

  async _close(): Promise<void> {
    const { file } = this;
    this.file = null;
    await (await file)?.close();
  }

  /** Extends the last copy, or replaces bytes of it: a box's size is written after its contents. */
  private writeIntoLastCopy(bytes: Uint8Array, position: number): boolean {
    const { copies, lastCopy } = this;
    if (lastCopy === null) return false;
    const { length, byteOffset: from } = lastCopy.bytes;
    const at = position - lastCopy.position;
    const end = at + bytes.length;
    const canExtend = at <= length && lastCopy === this.parts.at(-1) && from + end <= COPY_BYTES;
    if (at < 0 || (end > length && !canExtend)) return false;
    copies.set(bytes, from + at);
    lastCopy.bytes = copies.subarray(from, from + Math.max(length, end));
    this.copiedBytes = from + lastCopy.bytes.length;
    return true;
  }
}
