/** The receiver of bytes, without a server: all failures of a part, and the resulting file. */
import { describe, expect, test } from "bun:test";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { AppError } from "../../../../src/domain/errors";
import { sha256 } from "../../../../src/lib/hash";
import type { CoreNeeds } from "../../../../src/work/needs";
import { createUploadSession, createUploadSessions, type UploadPart } from "../../../../src/work/uploads/session";
import { temporaryFolder } from "../../../temporary-folder";
import { until } from "../../../until";

async function open() {
  const folder = await temporaryFolder();
  const path = join(folder.path, "file");
  const state = { now: 0, claimed: 0, free: Number.POSITIVE_INFINITY, isOffline: false };
  const requireOnline = () => {
    if (state.isOffline) throw new AppError("upstream_unavailable", "offline");
  };
  const services = {
    disk: {
      claim: (bytes: number) => {
        if (bytes > state.free) return false;
        state.claimed += bytes;
        return true;
      },
    },
    folders: { guard: { requireOnline, confirmOnline: async () => requireOnline() } },
    now: () => state.now,
  } as unknown as CoreNeeds;
  const session = createUploadSession(services, path, true);
  await session.restart();
  return {
    state,
    services,
    folder: folder.path,
    session,
    read: () => Bun.file(path).text(),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

type Chunks = UploadPart["chunks"];

const send = (...texts: string[]): Chunks =>
  async function* () {
    for (const text of texts) yield Buffer.from(text);
  };

const part = (offset: number, chunks: Chunks, change: Partial<UploadPart> = {}): UploadPart => ({
  offset,
  length: 9,
  announced: null,
  chunks,
  ...change,
});

/** A sender that sends a text and then nothing, until it is stopped. */
function createSilentSender(text: string): { chunks: Chunks; reached: Promise<void> } {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const chunks: Chunks = async function* (signal) {
    yield Buffer.from(text);
    resolve();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  };
  return { chunks, reached };
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "none",
    (error) => error.code,
  );

describe("a part", () => {
  test("continues where the file ends, and the hash is that of the file", async () => {
    await using t = await open();
    expect(await t.session.receive(part(0, send("abc", "", "de")))).toBe(5);
    expect(await t.session.receive(part(5, send("fghi"), { announced: 4 }))).toBe(9);
    expect([await t.read(), t.session.offset(), t.state.claimed]).toEqual(["abcdefghi", 9, 9]);
    // The file is not read: it could be 100 GB.
    await rm(t.session.path);
    expect(await t.session.hash()).toBe(sha256("abcdefghi"));
  });

  test.each<[string, number, Partial<UploadPart>, string]>([
    ["at a later offset", 4, {}, "conflict"],
    ["at an earlier offset", 2, {}, "conflict"],
    ["at an offset beyond all", Number.MAX_SAFE_INTEGER, {}, "conflict"],
    ["that announces too much", 3, { announced: 7 }, "payload_too_large"],
    ["that sends too much", 3, { length: 4 }, "payload_too_large"],
  ])("%s is refused, and changes nothing", async (_, offset, change, code) => {
    await using t = await open();
    await t.session.receive(part(0, send("abc")));
    expect(await codeOf(t.session.receive(part(offset, send("xyz"), change)))).toBe(code);
    expect([await t.read(), t.session.offset(), await t.session.hash()]).toEqual(["abc", 3, sha256("abc")]);
  });

  test.each<[string, (t: Awaited<ReturnType<typeof open>>) => Partial<UploadPart>, string]>([
    [
      "whose sender fails",
      () => ({
        chunks: async function* () {
          yield Buffer.from("ab");
          throw new AppError("bad_request", "broken");
        },
      }),
      "bad_request",
    ],
    [
      "that has no more room",
      () => ({ reserve: (bytes) => (bytes > 2 ? Promise.reject(new AppError("conflict", "quota")) : undefined) }),
      "conflict",
    ],
    [
      "whose disk is full",
      (t) => ({
        chunks: async function* () {
          yield Buffer.from("ab");
          // The first chunk is written before the second arrives.
          await until("the first bytes", async () => (await t.read()) === "ab");
          t.state.free = 0;
          yield Buffer.from("c");
        },
      }),
      "ENOSPC",
    ],
    [
      "whose folder goes offline",
      (t) => ({
        chunks: async function* () {
          yield Buffer.from("ab");
          await until("the first bytes", async () => (await t.read()) === "ab");
          t.state.isOffline = true;
          yield Buffer.from("c");
        },
      }),
      "upstream_unavailable",
    ],
  ])("%s keeps what had arrived; the next one continues there", async (_, change, code) => {
    await using t = await open();
    expect(await codeOf(t.session.receive(part(0, send("ab", "c"), change(t))))).toBe(code);
    expect([await t.read(), t.session.offset()]).toEqual(["ab", 2]);
    Object.assign(t.state, { free: Number.POSITIVE_INFINITY, isOffline: false });
    expect(await t.session.receive(part(2, send("cd")))).toBe(4);
    expect(await t.session.hash()).toBe(sha256("abcd"));
  });

  test("is stopped while it is silent: by a refused credential, a folder that is away, and by another request", async () => {
    await using t = await open();
    const refused = new AppError("forbidden", "revoked");
    const stops: [string, Partial<UploadPart>, () => void][] = [
      ["forbidden", { authorize: () => Promise.reject(refused) }, () => {}],
      ["upstream_unavailable", {}, () => Object.assign(t.state, { isOffline: true })],
      ["conflict", {}, () => t.session.stop(new AppError("conflict", "another one"))],
    ];
    for (const [code, change, stop] of stops) {
      await t.session.restart();
      t.state.isOffline = false;
      const { chunks, reached } = createSilentSender("ab");
      const ended = codeOf(t.session.receive(part(0, chunks, change)));
      await reached;
      stop();
      expect([code, await ended, await t.read()]).toEqual([code, code, "ab"]);
    }
    expect(t.session.stop(refused)).toBe(false);
  });

  test("is not stopped by a check that fails for another reason", async () => {
    await using t = await open();
    const asked = Promise.withResolvers<void>();
    const authorize = () => {
      asked.resolve();
      return Promise.reject(new Error("database is busy"));
    };
    const chunks: Chunks = async function* () {
      yield Buffer.from("ab");
      await asked.promise;
      yield Buffer.from("c");
    };
    expect(await t.session.receive(part(0, chunks, { authorize }))).toBe(3);
  });

  test("reports its progress about once a second, and where it ended with a failure", async () => {
    await using t = await open();
    const reported: number[] = [];
    const chunks: Chunks = async function* () {
      for (let n = 0; n < 9; n++) {
        t.state.now += 400;
        yield Buffer.from("x");
      }
    };
    await t.session.receive(part(0, chunks, { onProgress: (offset) => reported.push(offset) }));
    expect(reported).toEqual([3, 6, 9]);
    await codeOf(t.session.receive(part(9, send("x"), { onProgress: (offset) => reported.push(offset) })));
    expect(reported).toEqual([3, 6, 9, 9]);
    expect(t.session.findLastByteTime()).toBeNull();
  });
});

test("whatever the parts are and wherever they break, file, offset and hash agree", async () => {
  const parts = fc.array(
    fc.record({ texts: fc.array(fc.string({ maxLength: 20 }), { maxLength: 5 }), breaks: fc.boolean() }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(parts, async (all) => {
      await using t = await open();
      for (const { texts, breaks } of all) {
        const chunks: Chunks = async function* () {
          for (const text of texts) yield Buffer.from(text);
          if (breaks) throw new AppError("bad_request", "broken");
        };
        const offset = await t.session.readOffset();
        await t.session.receive(part(offset, chunks, { length: 1_000 })).catch(() => {});
      }
      const bytes = await Bun.file(t.session.path).bytes();
      expect(Buffer.from(bytes).toString()).toBe(all.flatMap(({ texts }) => texts).join(""));
      expect([t.session.offset(), await t.session.hash()]).toEqual([bytes.length, sha256(bytes)]);
    }),
    { numRuns: 40 },
  );
});

describe("the move into place", () => {
  test("replaces an existing file", async () => {
    await using t = await open();
    await t.session.receive(part(0, send("new")));
    const target = join(t.folder, "target");
    await writeFile(target, "old");
    await t.session.moveTo(target);
    expect([await Bun.file(target).text(), await readdir(t.folder)]).toEqual(["new", ["target"]]);
  });

  test.each<[string, (path: string) => Promise<unknown>]>([
    ["a link", (path) => symlink("/etc/hostname", path)],
    ["a folder", (path) => mkdir(path)],
    ["a pipe", (path) => Bun.spawn(["mkfifo", path]).exited],
    ["nothing", async () => {}],
  ])("is refused for %s in place of the file", async (_, replace) => {
    await using t = await open();
    await rm(t.session.path);
    await replace(t.session.path);
    await expect(t.session.moveTo(join(t.folder, "target"))).rejects.toThrow();
    expect(await Bun.file(join(t.folder, "target")).exists()).toBe(false);
  });
});

test("requests for an upload share its session while they run, and nothing is kept of it afterwards", async () => {
  await using t = await open();
  const sessions = createUploadSessions({
    ...t.services,
    folders: { ...t.services.folders, upload: (id) => join(t.folder, id) },
  });
  const first = await sessions.use("a", async (one) => {
    expect(await sessions.use("a", async (other) => other === one)).toBe(true);
    expect(await sessions.use("b", async (other) => other === one)).toBe(false);
    return one;
  });
  expect(await sessions.use("a", async (one) => one === first)).toBe(false);
});
