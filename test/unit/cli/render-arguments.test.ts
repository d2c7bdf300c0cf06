import { describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { toCutPath } from "../../../src/cli/cut-tasks";
import { UsageError } from "../../../src/cli/options";
import { readRenderArguments } from "../../../src/cli/render";
import { temporaryFolder } from "../../temporary-folder";

async function talk() {
  const folder = await temporaryFolder();
  const path = join(folder.path, "talk.mov");
  const plan = join(folder.path, "plan.json");
  await Bun.write(path, "recording");
  await Bun.write(plan, "{}");
  return { folder: folder.path, path, plan, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a recording and a plan are rendered beside the recording", async () => {
  await using given = await talk();
  const args = await readRenderArguments([given.path, "--plan", given.plan]);
  expect(args).toMatchObject({ planName: given.plan, planText: "{}", language: null, force: false, json: false });
  expect(args?.tasks).toEqual([
    {
      name: given.path,
      path: given.path,
      render: true,
      output: null,
      format: null,
      loudness: null,
      noiseReduction: "off",
      levelSpeakers: false,
      planPath: null,
      exports: [],
      subtitles: [],
      transcripts: [],
    },
  ]);
});

test("a timeline or a subtitle alone renders nothing, with a format it does", async () => {
  await using given = await talk();
  const plan = ["--plan", given.plan];
  const alone = await readRenderArguments([given.path, ...plan, "--subtitle", "srt", "--export", "edl"]);
  expect(alone?.tasks[0]).toMatchObject({ render: false, exports: ["edl"], subtitles: ["srt"] });
  const both = await readRenderArguments([given.path, ...plan, "--subtitle", "srt", "--format", "mp3"]);
  expect(both?.tasks[0]).toMatchObject({ render: true, output: toCutPath(given.path, "mp3") });
});

test("a byte order mark is not part of the plan", async () => {
  await using given = await talk();
  await Bun.write(given.plan, "\ufeff{}");
  expect((await readRenderArguments([given.path, "--plan", given.plan]))?.planText).toBe("{}");
});

test("help needs no recording", async () => {
  expect(await readRenderArguments(["--help"])).toBeNull();
});

describe("is rejected with one line:", () => {
  type Given = { folder: string; path: string; plan: string };
  const rejected: [string, (given: Given) => string[], string][] = [
    ["no recording", ({ plan }) => ["--plan", plan], "FILE is missing, see offcut render --help"],
    ["no plan", ({ path }) => [path], "--plan PLAN.json is missing"],
    ["a missing plan", ({ path, folder }) => [path, "--plan", join(folder, "none.json")], "plan not found"],
    ["a folder as the plan", ({ path, folder }) => [path, "--plan", folder], "is not a file"],
    ["a device as the plan", ({ path }) => [path, "--plan", "/dev/zero"], "is not a file"],
    ["several recordings", ({ path, plan }) => [path, path, "--plan", plan], "--plan takes a single FILE"],
    ["an option of cut", ({ path, plan }) => [path, "--plan", plan, "--mode", "tight"], "--mode"],
    [
      "an output that exists",
      ({ path, plan, folder }) => [path, "--plan", plan, "-o", join(folder, "old.mp4")],
      "--force",
    ],
    [
      "the recording as the output",
      ({ path, plan }) => [path, "--plan", plan, "-o", path, "--force"],
      "recording itself",
    ],
    [
      "the plan as an export",
      ({ path, folder }) => [path, "--plan", join(folder, "talk.cut.json"), "--export", "json", "--force"],
      "is the plan itself",
    ],
  ];
  test.each(rejected)("%s", async (_, argv, message) => {
    await using given = await talk();
    await Bun.write(join(given.folder, "old.mp4"), "before");
    await symlink(given.plan, join(given.folder, "talk.cut.json"));
    const result = readRenderArguments(argv(given));
    await expect(result).rejects.toThrow(message);
    await expect(result).rejects.toBeInstanceOf(UsageError);
    await result.catch((error: Error) => expect(error.message).not.toContain("\n"));
  });

  test("a plan that is too large", async () => {
    await using given = await talk();
    await Bun.write(given.plan, new Uint8Array(64 * 1024 * 1024 + 1));
    await expect(readRenderArguments([given.path, "--plan", given.plan])).rejects.toThrow("must have at most 67.1 MB");
  });
});
