/** The files that a worker sends for one execution: received in parts that resume, checked, and moved to where a local run would have put them. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors";
import type { SentFile } from "../../domain/workers";
import { hashFile } from "../../lib/hash";
import { writeStream } from "../../lib/write-stream";
import { commitFile } from "../job-child/scratch";

/** A file that an execution may send. `dir` is where it belongs; it has no name of a folder in it, because `name` is a pattern of whole names. */
export type OutputRule = { name: RegExp; dir: string; maxBytes: number };

/** Names of files whose bytes are not those that the worker has named. It may send them once more. */
export class WrongFilesError extends Error {
  constructor(readonly names: string[]) {
    super(`wrong files: ${names.join(", ")}`);
    this.name = "WrongFilesError";
  }
}

/** A part of a file of `length` bytes. `claim` may throw to stop writing. `cancel` ends the chunks, also while none arrive. */
export type IncomingPart = {
  offset: number;
  length: number;
  chunks: AsyncIterable<Uint8Array>;
  claim(bytes: number): void;
  cancel(): void;
};

export type IncomingFiles = {
  /** Returns how many bytes of the file are there. Throws `AppError` `not_found` for a name that the execution may not send. */
  getOffset(name: string): number;
  /**
   * Writes a part, and returns the offset after it. A part that is still being written ends first. Errors: `AppError` `not_found`, `conflict` for
   * another offset or length, `payload_too_large`; those of the chunks and of the file system.
   */
  write(name: string, part: IncomingPart): Promise<number>;
  /** Compares the files with what is named. Returns the paths of those that are not moved yet. Throws `WrongFilesError`, and removes those files. */
  check(files: readonly SentFile[]): Promise<Map<string, string>>;
  /**
   * Moves checked files to where they belong, in the order of the rules, so that a file which stands for others comes after them. Those of an
   * earlier call may be named again. `isCurrent` false stops.
   */
  commit(files: readonly SentFile[], isCurrent: () => boolean): Promise<void>;
  /** Resolves when no file is on the move. */
  settled(): Promise<void>;
  /** Stops writing and removes what is not moved. A move that has begun ends first. */
  remove(): Promise<void>;
};

type Incoming = {
  path: string;
  created: Promise<void>;
  length: number;
  offset: number;
  hasher: Bun.CryptoHasher | null;
  sha256: string | null;
};
type Writer = { stop(): void; ended: Promise<void> };

/** Of one execution. */
export const MAX_OUTPUT_FILES = 64;

/** `dir` receives the files; it is on the file system of the rules' folders. */
export function createIncomingFiles(dir: string, rules: readonly OutputRule[]): IncomingFiles {
  const files = new Map<string, Incoming>();
  const committed = new Map<string, SentFile>();
  const writers = new Map<string, Writer>();
  let isRemoved = false;
  /** The file that is moved to where it belongs: calls take turns, so there is one. */
  let moving = Promise.resolve();

  const requireRule = (name: string): OutputRule => {
    const rule = rules.find((one) => one.name.test(name));
    if (!rule) throw new AppError("not_found", "The execution has no such file.");
    return rule;
  };

  async function open(name: string, length: number): Promise<Incoming> {
    const { maxBytes } = requireRule(name);
    if (length > maxBytes) throw new AppError("payload_too_large", `The file must have at most ${maxBytes} bytes.`);
    const known = files.get(name);
    if (known && known.length !== length)
      throw new AppError(
        "conflict",
        `Upload-Length is ${length} but the file was announced with ${known.length} bytes.`,
      );
    if (known) {
      await known.created;
      return known;
    }
    if (files.size >= MAX_OUTPUT_FILES)
      throw new AppError("payload_too_large", `An execution sends at most ${MAX_OUTPUT_FILES} files.`);
    const path = join(dir, name);
    const created = create(path);
    const file = { path, created, length, offset: 0, hasher: new Bun.CryptoHasher("sha256"), sha256: null };
    files.set(name, file);
    try {
      await created;
    } catch (error) {
      if (files.get(name) === file) files.delete(name);
      throw error;
    }
    return file;
  }

  async function create(path: string): Promise<void> {
    await mkdir(dir, { recursive: true });
    await writeFile(path, "");
  }

  async function discard(name: string): Promise<void> {
    const file = files.get(name);
    files.delete(name);
    if (file) await rm(file.path, { force: true });
  }

  /** Hashes what arrives. After a failed write the hash may be ahead of the file, which is then read again. */
  async function append(
    file: Incoming,
    { offset, chunks, claim }: IncomingPart,
    isStopped: () => boolean,
  ): Promise<void> {
    let hashed = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        if (isStopped()) return;
        if (file.offset + hashed + chunk.byteLength > file.length)
          throw new AppError("payload_too_large", `More bytes were sent than Upload-Length, ${file.length}.`);
        file.hasher?.update(chunk);
        hashed += chunk.byteLength;
        yield chunk;
      }
    }
    let written = 0;
    try {
      written = await writeStream(counted(), file.path, offset, claim);
    } catch (error) {
      written = await Bun.file(file.path)
        .stat()
        .then(({ size }) => Math.min(hashed, Math.max(0, size - offset)));
      throw error;
    } finally {
      file.offset += written;
      if (written !== hashed) file.hasher = null;
    }
  }

  async function move({ path }: Incoming, named: SentFile): Promise<void> {
    const { dir: target } = requireRule(named.name);
    await mkdir(target, { recursive: true });
    files.delete(named.name);
    await commitFile(path, join(target, named.name));
    committed.set(named.name, named);
  }

  async function isAsNamed(named: SentFile): Promise<boolean> {
    const file = files.get(named.name);
    if (!file) {
      const earlier = committed.get(named.name);
      return earlier?.bytes === named.bytes && earlier.sha256 === named.sha256;
    }
    if (file.offset !== named.bytes || file.length !== named.bytes) return false;
    file.sha256 ??= file.hasher ? file.hasher.digest("hex") : await hashFile(file.path);
    file.hasher = null;
    return file.sha256 === named.sha256;
  }

  return {
    getOffset: (name) => {
      requireRule(name);
      return files.get(name)?.offset ?? 0;
    },
    write: async (name, part) => {
      const file = await open(name, part.length);
      const before = writers.get(name);
      before?.stop();
      await before?.ended;
      if (writers.has(name)) throw new AppError("conflict", "Another request is sending this file.");
      // The folder may have been created after it was removed.
      if (isRemoved) await rm(dir, { recursive: true, force: true });
      if (isRemoved || files.get(name) !== file) throw new AppError("not_found", "The execution has ended.");
      if (part.offset !== file.offset)
        throw new AppError("conflict", `Upload-Offset is ${part.offset} but the server has ${file.offset} bytes.`);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      let isStopped = false;
      writers.set(name, {
        ended,
        stop: () => {
          isStopped = true;
          part.cancel();
        },
      });
      try {
        await append(file, part, () => isStopped);
      } finally {
        writers.delete(name);
        end();
      }
      return file.offset;
    },
    check: async (named) => {
      const wrong: string[] = [];
      for (const one of named) if (!(await isAsNamed(one))) wrong.push(one.name);
      for (const name of wrong) await discard(name);
      if (wrong.length > 0) throw new WrongFilesError(wrong);
      return new Map(named.flatMap(({ name }) => (files.has(name) ? [[name, files.get(name)!.path]] : [])));
    },
    commit: async (named, isCurrent) => {
      const inOrder = rules.flatMap((rule) => named.filter(({ name }) => rule.name.test(name)));
      for (const one of inOrder) {
        const file = files.get(one.name);
        if (!file || !isCurrent()) continue;
        const running = move(file, one);
        moving = running.catch(() => {});
        await running;
      }
    },
    settled: () => moving,
    remove: async () => {
      isRemoved = true;
      for (const writer of writers.values()) writer.stop();
      files.clear();
      await moving;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
