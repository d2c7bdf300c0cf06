/**
 * The files that a worker sends for one execution: received in parts that resume, checked, and moved to where a local
 * run would have put them.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError, conflict } from "../../domain/errors";
import type { SentFile } from "../../domain/worker-messages";
import { MAX_OUTPUT_FILES } from "../../domain/workers";
import { createFolders } from "../../lib/atomic-file";
import type { CoreNeeds } from "../needs";
import { createUploadSession, type UploadPart, type UploadSession } from "../uploads/session";

/** Files that an execution may send. `name` is that of one, or a pattern of whole names; they belong in `dir`. */
export type OutputRule = { name: string | RegExp; dir: string; maxBytes: number };

export const matchesRule = ({ name }: OutputRule, sent: string): boolean =>
  typeof name === "string" ? name === sent : name.test(sent);

/** Names of files that differ from their hashes. The worker may send them once more. */
export class WrongFilesError extends Error {
  constructor(readonly names: string[]) {
    super(`wrong files: ${names.join(", ")}`);
    this.name = "WrongFilesError";
  }
}

type Incoming = { session: UploadSession; length: number; isCreated: boolean };

const endedError = () => new AppError("not_found", "The execution has ended.");
const replacedError = () => conflict("Another request is sending this file.");

/** `dir` receives the files; it is on the file system of the rules' folders. */
export function createIncomingFiles(services: CoreNeeds, dir: string, rules: readonly OutputRule[]) {
  const files = new Map<string, Incoming>();
  const committed = new Map<string, SentFile>();
  let isRemoved = false;
  /** The move in progress. Calls take turns, so there is at most one. */
  let moving = Promise.resolve();

  const requireRule = (name: string): OutputRule => {
    const rule = rules.find((one) => matchesRule(one, name));
    if (!rule) throw new AppError("not_found", "The execution has no such file.");
    return rule;
  };

  function open(name: string, length: number): Incoming {
    const { maxBytes } = requireRule(name);
    if (length > maxBytes) throw new AppError("payload_too_large", `The file must have at most ${maxBytes} bytes.`);
    const known = files.get(name);
    if (known && known.length !== length)
      throw conflict(`Upload-Length is ${length} but the file was announced with ${known.length} bytes.`);
    if (!known && files.size >= MAX_OUTPUT_FILES)
      throw new AppError("payload_too_large", `An execution sends at most ${MAX_OUTPUT_FILES} files.`);
    const session = known?.session ?? createUploadSession(services, join(dir, name), true);
    const file = known ?? { session, length, isCreated: false };
    files.set(name, file);
    return file;
  }

  async function discard(name: string): Promise<void> {
    const file = files.get(name);
    files.delete(name);
    if (file) await rm(file.session.path, { force: true });
  }

  async function move({ session }: Incoming, named: SentFile): Promise<void> {
    const { dir: target } = requireRule(named.name);
    await createFolders(target);
    files.delete(named.name);
    await session.moveTo(join(target, named.name));
    committed.set(named.name, named);
  }

  async function isAsNamed(named: SentFile): Promise<boolean> {
    const file = files.get(named.name);
    if (!file) {
      const earlier = committed.get(named.name);
      return earlier?.bytes === named.bytes && earlier.sha256 === named.sha256;
    }
    const { session, length } = file;
    if (session.offset() !== named.bytes || length !== named.bytes) return false;
    return (await session.hash()) === named.sha256;
  }

  return {
    /**
     * Returns the number of bytes that have arrived. Throws `AppError` `not_found` for a name that the execution may
     * not send.
     */
    getOffset: (name: string) => {
      requireRule(name);
      return files.get(name)?.session.offset() ?? 0;
    },
    /**
     * Writes a part, and returns the offset after it. A part that is still being written ends first. Errors: `AppError`
     * `not_found`, `conflict` for another offset or length, `payload_too_large`; those of the chunks and of the file
     * system.
     */
    write: async (name: string, part: UploadPart) => {
      const file = open(name, part.length);
      const { session } = file;
      const isCurrent = () => !isRemoved && files.get(name) === file;
      const release = await session.acquire(() => session.stop(replacedError()));
      try {
        if (isCurrent() && !file.isCreated) {
          await mkdir(dir, { recursive: true });
          await session.restart();
          file.isCreated = true;
        }
        // The folder may have been created after it was removed.
        if (isRemoved) await rm(dir, { recursive: true, force: true });
        if (!isCurrent()) throw endedError();
        return await session.receive(part);
      } finally {
        release();
      }
    },
    /**
     * Compares the files with the named ones. Returns the paths of those that are not moved yet. Throws
     * `WrongFilesError`, and removes those files.
     */
    check: async (named: readonly SentFile[]) => {
      const wrong: string[] = [];
      for (const one of named) if (!(await isAsNamed(one))) wrong.push(one.name);
      for (const name of wrong) await discard(name);
      if (wrong.length > 0) throw new WrongFilesError(wrong);
      return new Map(named.flatMap(({ name }) => (files.has(name) ? [[name, files.get(name)!.session.path]] : [])));
    },
    /**
     * Moves checked files to where they belong, in the order of the rules, so that a file which stands for others comes
     * after them. Those of an earlier call may be named again. `isCurrent` false stops.
     */
    commit: async (named: readonly SentFile[], isCurrent: () => boolean) => {
      const inOrder = rules.flatMap((rule) => named.filter(({ name }) => matchesRule(rule, name)));
      for (const one of inOrder) {
        const file = files.get(one.name);
        if (!file || !isCurrent()) continue;
        const running = move(file, one);
        moving = running.catch(() => {});
        await running;
      }
    },
    /** Resolves when no file is being moved. */
    settled: () => moving,
    /** Stops writing, and removes files that were not moved. A move that has begun ends first. */
    remove: async () => {
      isRemoved = true;
      for (const { session } of files.values()) session.stop(endedError());
      files.clear();
      await moving;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export type IncomingFiles = ReturnType<typeof createIncomingFiles>;
