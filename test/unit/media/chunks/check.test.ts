import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { type DecodedPart, type ExpectedChunk, findChunkProblem } from "../../../../src/media/chunks/check";
import { readPictureGroups } from "../../../../src/media/chunks/check-packets";
import { createChunkChecker } from "../../../../src/work/cluster/encode-pieces";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { createTools } from "../../work/jobs/split-places";
import { aac, audioInput, bundledFfmpeg, generate, h264, videoInput } from "../generated-media";
import { patchSampleTable, swapOffsets } from "../mp4-patch";

setDefaultTimeout(120_000);

const NAME = "chunk-0123456789abcdef01234567.mp4";
const RATE = { num: 30, den: 1 };
/** Three groups of pictures. The second one is not in any sample. */
const VIDEO = { kind: "video", name: NAME, frameCount: 180, width: 320, height: 180, frameRate: RATE } as const;
const AUDIO = { kind: "audio", seconds: 2 } as const;
const named = (name: string) => ["-metadata", `comment=${name}`];
/** A scene cut would start another group. */
const picture = (...more: string[]) => h264(60, "-sc_threshold", "0", ...more);

let folder: TemporaryFolder;
let video: string;
let small: string;
let audio: string;
let both: string;
let bytes: Buffer;

beforeAll(async () => {
  folder = await temporaryFolder();
  const input = videoInput("30", 6);
  const tone = audioInput(48_000, 2, 2);
  [video, small, audio, both] = await Promise.all([
    generate("check-chunk.mp4", ...input, ...picture(), ...named(NAME)),
    generate("check-small.mp4", ...videoInput("30", 6, "160x90"), ...picture(), ...named(NAME)),
    generate("check-audio.m4a", ...tone, ...aac),
    generate("check-two.mp4", ...input, ...tone, ...picture(), ...aac, ...named(NAME)),
  ]);
  bytes = Buffer.from(await Bun.file(video).bytes());
});
afterAll(() => folder[Symbol.asyncDispose]());

const find = (path: string, expected: ExpectedChunk, decode: DecodedPart = "sample") =>
  findChunkProblem({ ffmpeg: bundledFfmpeg, path, expected, decode });

async function write(content: Uint8Array): Promise<string> {
  const path = join(folder.path, `${Math.random()}.mp4`);
  await Bun.write(path, content);
  return path;
}

/** Returns where the NAL units of the frames are: the video is the only track, in the order of decoding. */
function listNals(file: Buffer): { at: number; length: number; type: number }[] {
  const start = file.indexOf("mdat") + 4;
  const end = start - 8 + file.readUInt32BE(start - 8);
  const nals: { at: number; length: number; type: number }[] = [];
  for (let at = start; at < end; at += 4 + nals.at(-1)!.length)
    nals.push({ at: at + 4, length: file.readUInt32BE(at), type: file[at + 4]! & 31 });
  return nals;
}

const scatter = (n: number) => (n * 151) & 255;

/** Returns the file with the content of a random access point destroyed. */
function damageGroup(group: number, toByte: (n: number) => number = scatter): Uint8Array {
  const { at, length } = listNals(bytes).filter(({ type }) => type === 5)[group]!;
  const damaged = Buffer.from(bytes);
  for (let n = at + 64; n < at + length; n++) damaged[n] = toByte(n);
  return damaged;
}

const patchTable = (box: string[], change: (body: Buffer) => void) => patchSampleTable(bytes, box, change);

const changeNal = (type: number, change: (file: Buffer, at: number) => void): Uint8Array => {
  const changed = Buffer.from(bytes);
  change(changed, listNals(bytes).find((nal) => nal.type === type)!.at);
  return changed;
};

describe("a file of a split render", () => {
  test("that is as expected has no problem", async () => {
    for (const decode of ["sample", "all"] as const) expect(await find(video, VIDEO, decode)).toBeNull();
    expect(await find(audio, AUDIO)).toBeNull();
  });

  test.each<[string, () => string, ExpectedChunk, string]>([
    ["a frame is missing", () => video, { ...VIDEO, frameCount: 181 }, "180 frames, expected 181"],
    ["a frame too many", () => video, { ...VIDEO, frameCount: 179 }, "180 frames, expected 179"],
    ["another size", () => small, VIDEO, "160x90, expected 320x180"],
    ["another frame rate", () => video, { ...VIDEO, frameRate: { num: 25, den: 1 } }, "time of frame 4"],
    ["another chunk of the same length", () => video, { ...VIDEO, name: `${NAME}x` }, "another chunk"],
    ["video in place of audio", () => video, AUDIO, "not have exactly one audio track"],
    ["audio in place of video", () => audio, VIDEO, "not have exactly one video track"],
    ["two tracks", () => both, VIDEO, "not have exactly one video track"],
    ["audio of another duration", () => audio, { ...AUDIO, seconds: 3 }, "expected 3 s"],
    ["no file", () => join(folder.path, "missing.mp4"), VIDEO, "cannot be used"],
  ])("%s", async (_, path, expected, problem) => {
    expect(await find(path(), expected)).toContain(problem);
  });

  test.each<[string, () => Uint8Array, string]>([
    ["is cut off", () => bytes.subarray(0, bytes.length - 100), "incomplete"],
    ["is empty", () => new Uint8Array(), "incomplete"],
    ["is no media", () => Buffer.alloc(bytes.length, 7), "incomplete"],
    ["has fewer frames than its table says", () => patchTable(["stsz"], (body) => body.writeUInt32BE(181, 8)), "181"],
    ["hides another size", () => patchTable(["stsd", "avc1"], (body) => body.writeUInt16BE(640, 24)), "640x180"],
    ["has times of another rate", () => patchTable(["stts"], (body) => body.writeUInt32BE(1_024, 12)), "not that"],
    ["has times in another order", () => patchTable(["ctts"], swapOffsets), "is not"],
    [
      "has lengths of NAL units that are wrong",
      () => changeNal(1, (file, at) => file.writeUInt32BE(1e6, at - 4)),
      "NAL",
    ],
    ["starts with a frame that needs others", () => changeNal(5, (file, at) => file.fill(0x61, at, at + 1)), "depends"],
    [
      "has slices of two frames in a packet",
      () => changeNal(6, (file, at) => file.fill(0x65, at, at + 2)),
      "mixes|one",
    ],
    ["has no frame in a packet", () => changeNal(1, (file, at) => file.fill(0x06, at, at + 1)), "no picture"],
    ["has other parameter sets in a packet", () => changeNal(1, (file, at) => file.fill(0x67, at, at + 1)), "change"],
    ["has damage where the first frames are", () => damageGroup(0), "cannot be decoded"],
    ["has damage where the last frames are", () => damageGroup(2), "cannot be decoded"],
  ])("that %s is refused", async (_, make, problem) => {
    expect(await find(await write(make()), VIDEO)).toMatch(new RegExp(problem));
  });

  // With ones, the picture ends early, which is not an error: the decoder conceals the missing part.
  test.each<[string, (n: number) => number]>([
    ["zeros", () => 0],
    ["ones", () => 255],
    ["any bits", scatter],
  ])("that is damaged elsewhere, with %s, is refused when everything is decoded", async (_, toByte) => {
    const damaged = await write(damageGroup(1, toByte));
    expect(await find(damaged, VIDEO, "sample")).toBeNull();
    expect(await find(damaged, VIDEO, "all")).toContain("cannot be decoded");
  });

  test("has its groups of pictures with every frame, however it is ordered, or is refused", async () => {
    const orders = [
      ["-bf", "0"],
      ["-bf", "8", "-refs", "4", "-b_strategy", "2"],
      ["-x264-params", "b-pyramid=none"],
    ];
    for (const [n, order] of orders.entries()) {
      const path = await generate(`check-order-${n}.mp4`, ...videoInput("30", 6), ...picture(...order));
      expect((await readPictureGroups(path, VIDEO))?.map(({ frameCount }) => frameCount)).toEqual([60, 60, 60]);
    }
    // The tables behind the frames have tests of their own.
    const nals = listNals(bytes);
    const at = fc.integer({ min: nals[0]!.at - 4, max: nals.at(-1)!.at + nals.at(-1)!.length - 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(at, fc.integer({ min: 0, max: 255 })), { maxLength: 4 }), async (changes) => {
        const changed = Buffer.from(bytes);
        for (const [position, value] of changes) changed[position] = value;
        const groups = await readPictureGroups(await write(changed), VIDEO).catch((error) => error);
        if (groups instanceof Error || groups === null) return;
        expect(groups.reduce((sum: number, { frameCount }: { frameCount: number }) => sum + frameCount, 0)).toBe(180);
      }),
      { numRuns: 60 },
    );
  });
});

test("a child that ends is a problem of the file, and a later check gets another child", async () => {
  const tools = createTools();
  const options = { decode: "sample", signal: new AbortController().signal } as const;
  {
    await using broken = createChunkChecker({ ...tools, jobCommand: ["/bin/false"] }, folder.path);
    expect(await broken.check(video, VIDEO, options)).toContain("The check failed");
    expect(await broken.check(video, VIDEO, options)).toContain("The check failed");
  }
  await using checker = createChunkChecker(tools, folder.path);
  expect(await checker.check(video, VIDEO, options)).toBeNull();
  expect(await checker.check(video, AUDIO, options)).toContain("not have exactly one audio track");
  const abort = new AbortController();
  abort.abort(new Error("cancelled"));
  await expect(checker.check(video, VIDEO, { ...options, signal: abort.signal })).rejects.toThrow("cancelled");
});
