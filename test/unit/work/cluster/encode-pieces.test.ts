/**
 * The pieces of a split render at places that only write names to files: their assignment, their repetition, and the
 * end of the render.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../../src/domain/errors";
import { JobYielded } from "../../../../src/domain/jobs";
import type { PieceCall } from "../../../../src/work/cluster/encode-pieces";
import {
  type EncodeOptions,
  encodePieces,
  INCOMING_FOLDER,
  type Piece,
} from "../../../../src/work/cluster/encode-pieces";
import type { ChunkInput } from "../../../../src/work/jobs/split-run";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { until } from "../../../until";
import { createFakeExecutions, type FakePlace, fakePlace, PlaceLost } from "./fake-executions";

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const RATE = { num: 30, den: 1 };

function createPiece(n: number, frames = 100): Piece {
  const name = `chunk-${n.toString(16).padStart(24, "0")}.mp4`;
  return {
    name,
    frames,
    piece: { kind: "audio", name: `chunk-${n}`, plan: null, output: {} as never },
    expected: { kind: "video", name, frameCount: frames, width: 10, height: 10, frameRate: RATE },
    maxBytes: 1_000,
  };
}

const nameOf = (call: PieceCall) => call.outputs[0]!.name;

/** Writes the file of a piece. */
async function writePiece(call: PieceCall, text = nameOf(call)) {
  await Bun.write(join(call.outputDir, nameOf(call)), text);
  return { blobs: [], seconds: 1, repaired: false };
}

type Run = (placeId: string, call: PieceCall) => Promise<unknown>;

function start(places: FakePlace[], pieces: Piece[], run: Run, more: Partial<EncodeOptions> = {}) {
  const executions = createFakeExecutions(places, run);
  const abort = new AbortController();
  const events: string[] = [];
  const shares: number[] = [];
  const ended = encodePieces({
    input: { blobs: {}, duration: 0 } as unknown as EncodeOptions["input"],
    pieces,
    done: new Set(),
    workDir: folder.path,
    pixels: 100,
    fallbackSpeed: 10,
    executions,
    checkChunk: async (path) => ((await Bun.file(path).text()).startsWith("wrong") ? "it is wrong" : null),
    signal: abort.signal,
    shouldYield: () => false,
    progress: (share) => shares.push(share),
    log: (event) => events.push(event),
    tickMs: 5,
    clock: () => performance.now(),
    ...more,
  });
  return { executions, abort, events, shares, ended };
}

const listFiles = async () => (await readdir(folder.path)).filter((name) => name !== INCOMING_FOLDER).sort();
const ten = Array.from({ length: 10 }, (_, n) => createPiece(n));
const TWO = () => [fakePlace("a"), fakePlace("b")];

async function expectAllDone(pieces: Piece[]) {
  expect(await listFiles()).toEqual(pieces.map(({ name }) => name).sort());
  for (const { name } of pieces) expect(await Bun.file(join(folder.path, name)).text()).toBe(name);
  expect(await readdir(join(folder.path, INCOMING_FOLDER)).catch(() => [])).toEqual([]);
}

test("every piece is encoded once, at all places", async () => {
  const { executions, ended, shares } = start(TWO(), ten, (_, call) => writePiece(call));
  expect(await ended).toEqual({ repaired: false });
  await expectAllDone(ten);
  expect(executions.calls.map(({ call }) => nameOf(call)).sort()).toEqual(ten.map(({ name }) => name).sort());
  expect(new Set(executions.calls.map(({ placeId }) => placeId)).size).toBe(2);
  expect(executions.held()).toBe(0);
  expect(shares.at(-1)).toBe(1);
});

test("pieces of an earlier attempt are not encoded again", async () => {
  const done = new Set(ten.slice(0, 9).map(({ name }) => name));
  const { executions, ended, shares } = start(TWO(), ten, (_, call) => writePiece(call), { done });
  await ended;
  expect(executions.calls).toHaveLength(1);
  expect(shares[0]).toBeCloseTo(0.9);
});

test("a piece that is lost with its place is encoded elsewhere, and is not a failure", async () => {
  const fake = start(TWO(), ten, async (placeId, call) => {
    if (placeId !== "a") return writePiece(call);
    fake.executions.remove("a");
    throw new PlaceLost();
  });
  await fake.ended;
  await expectAllDone(ten);
  expect(fake.events.filter((event) => event === "chunk.failed")).toEqual([]);
  expect(fake.events.filter((event) => event === "chunk.lost")).toHaveLength(1);
});

test("a wrong file is discarded, and encoded at another place", async () => {
  const { ended, executions, events } = start(TWO(), ten, (placeId, call) =>
    writePiece(call, placeId === "a" ? "wrong" : nameOf(call)),
  );
  await ended;
  await expectAllDone(ten);
  // After three wrong files the place gets nothing more.
  expect(events.filter((event) => event === "chunk.failed").length).toBeLessThanOrEqual(3);
  const atA = executions.calls.filter(({ placeId }) => placeId === "a").map(({ call }) => nameOf(call));
  expect(new Set(atA).size).toBe(atA.length);
});

test("all files of a place that has sent a wrong one are decoded completely", async () => {
  const decoded: string[] = [];
  const wrong = ten[2]!.name;
  const { ended } = start(TWO(), ten, (placeId, call) => writePiece(call, nameOf(call) === wrong ? "wrong" : placeId), {
    checkChunk: async (path, _, { decode }) => {
      const text = await Bun.file(path).text();
      decoded.push(`${text} ${decode}`);
      return text === "wrong" ? "it is wrong" : null;
    },
  });
  await expect(ended).rejects.toThrow("it is wrong");
  // The file was wrong at one place and then at the other one.
  const first = decoded.indexOf("wrong sample");
  expect(decoded.slice(0, first).every((one) => one.endsWith("sample"))).toBe(true);
  const last = decoded.lastIndexOf("wrong sample");
  expect(decoded.slice(last + 1).every((one) => one.endsWith("all"))).toBe(true);
  expect(decoded.at(-1)).toBe("wrong all");
});

test("a file under an unexpected name is not a result", async () => {
  const { ended } = start(
    TWO(),
    [createPiece(1)],
    async (_, call) => {
      await Bun.write(join(call.outputDir, "other.mp4"), "x");
      return { blobs: [], seconds: 1, repaired: false };
    },
    { checkChunk: async (path) => ((await Bun.file(path).exists()) ? null : "missing") },
  );
  await expect(ended).rejects.toThrow("missing");
});

test("the third failure of a piece ends the render with its error", async () => {
  const failure = new AppError("processing_failed", "Video could not be decoded.");
  const bad = ten[3]!.name;
  const { ended, executions } = start(TWO(), ten, async (_, call) => {
    if (nameOf(call) === bad) throw failure;
    return writePiece(call);
  });
  await expect(ended).rejects.toBe(failure);
  expect(executions.calls.filter(({ call }) => nameOf(call) === bad)).toHaveLength(3);
  expect(executions.held()).toBe(0);
});

test("a full disk of this machine ends the render at once, that of a worker does not", async () => {
  const full = new AppError("storage_full", "The storage is full.");
  const places = [fakePlace("here", { isLocal: true }), fakePlace("there")];
  const failAt = (id: string) => (placeId: string, call: PieceCall) =>
    placeId === id ? Promise.reject(full) : writePiece(call);
  await expect(start(places, ten, failAt("here")).ended).rejects.toBe(full);
  await start(places, ten, failAt("there")).ended;
  await expectAllDone(ten);
});

test("a request to yield waits for the running pieces, and starts no others", async () => {
  let mustYield = false;
  const held = Promise.withResolvers<void>();
  const { ended, executions } = start(
    TWO(),
    ten,
    async (_, call) => {
      mustYield = executions.calls.length === 2;
      if (mustYield) held.resolve();
      await held.promise;
      return writePiece(call);
    },
    { shouldYield: () => mustYield },
  );
  await expect(ended).rejects.toBeInstanceOf(JobYielded);
  expect(executions.calls).toHaveLength(2);
  expect(await listFiles()).toHaveLength(2);
  expect(executions.held()).toBe(0);
});

test("an abort ends everything and leaves no files behind", async () => {
  const reason = new Error("cancelled");
  const aborted: string[] = [];
  const { ended, executions, abort } = start(
    TWO(),
    ten,
    (placeId, call) =>
      new Promise((_, reject) => {
        call.signal.addEventListener("abort", () => {
          aborted.push(placeId);
          reject(call.signal.reason);
        });
        if (executions.calls.length === 2) abort.abort(reason);
      }),
  );
  await expect(ended).rejects.toBe(reason);
  expect(aborted.sort()).toEqual(["a", "b"]);
  expect(executions.held()).toBe(0);
  expect(await readdir(join(folder.path, INCOMING_FOLDER))).toEqual([]);
  const early = new AbortController();
  early.abort(reason);
  await expect(start(TWO(), ten, (_, call) => writePiece(call), { signal: early.signal }).ended).rejects.toBe(reason);
});

test("a place that joins later takes part", async () => {
  const { ended, executions } = start([fakePlace("a")], ten, async (placeId, call) => {
    if (placeId === "a" && executions.calls.length === 2) executions.add(fakePlace("b"));
    return writePiece(call);
  });
  await ended;
  expect(executions.calls.some(({ placeId }) => placeId === "b")).toBe(true);
});

test("running pieces are completed when no place accepts more, and the rest is returned", async () => {
  const held = Promise.withResolvers<void>();
  let late = 0;
  const { ended, executions } = start(
    [fakePlace("a")],
    ten,
    async (_, call) => {
      await held.promise;
      return writePiece(call);
    },
    { clock: () => performance.now() + late },
  );
  await until("a piece that runs", () => executions.calls.length > 0);
  executions.drain("a");
  late = 60_000;
  await Bun.sleep(20);
  expect(executions.calls[0]!.call.signal.aborted).toBe(false);
  held.resolve();
  const jump = setInterval(() => {
    late += 60_000;
  }, 10);
  await expect(ended).rejects.toBeInstanceOf(JobYielded);
  clearInterval(jump);
  expect(await listFiles()).toEqual([nameOf(executions.calls[0]!.call)]);
});

test("without places for long, the render yields", async () => {
  let now = 0;
  const { ended } = start([], ten, (_, call) => writePiece(call), { clock: () => (now += 5_000) });
  await expect(ended).rejects.toBeInstanceOf(JobYielded);
});

describe("places of different speed", () => {
  const fast = fakePlace("fast", { pixelsPerSecond: 10_000 });
  const slow = fakePlace("slow", { pixelsPerSecond: 100 });

  test("a slow place gets nothing that would end last", async () => {
    const { ended, executions } = start(
      [{ ...slow }, { ...fast }],
      [createPiece(1, 400), createPiece(2, 300)],
      (_, call) => writePiece(call),
    );
    await ended;
    expect(executions.calls.map(({ placeId }) => placeId)).toEqual(["fast", "fast"]);
  });

  test("the last piece runs a second time at an idle faster place, and the first result counts", async () => {
    const never = Promise.withResolvers<never>();
    const { ended, executions } = start([{ ...slow }], [createPiece(1, 400)], async (placeId, call) => {
      if (placeId === "slow") {
        executions.add({ ...fast });
        return never.promise;
      }
      return writePiece(call);
    });
    await ended;
    expect(executions.calls.map(({ placeId }) => placeId)).toEqual(["slow", "fast"]);
    expect(executions.calls[0]!.call.signal.aborted).toBe(true);
    expect(executions.held()).toBe(0);
    await expectAllDone([createPiece(1, 400)]);
  });

  test("the time of a piece is that of the head's clock, whatever its place reports", async () => {
    const video = { ...createPiece(1), piece: { kind: "video" } as never };
    let now = 0;
    const run: Run = async (_, call) => {
      now += 20;
      await writePiece(call);
      return { blobs: [], seconds: 1e-9, repaired: true };
    };
    const { ended, executions } = start(TWO(), [video], run, { clock: () => now });
    expect(await ended).toEqual({ repaired: true });
    expect(executions.speeds).toHaveLength(1);
    expect(executions.speeds[0]!.pixelsPerSecond).toBeCloseTo((100 * 100) / 0.02);
  });
});

test("a place receives the number of executions that share it", async () => {
  const { ended, executions } = start([fakePlace("a", { slots: 4 })], ten, (_, call) => writePiece(call));
  await ended;
  expect(executions.calls.every(({ call }) => (call.input as ChunkInput).slots === 4)).toBe(true);
});
