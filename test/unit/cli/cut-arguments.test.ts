import { describe, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { beside, companion, exportEnding, readCutArguments, requireFree } from "../../../src/cli/cut-arguments";
import { UsageError } from "../../../src/cli/options";
import { CUT_MODES } from "../../../src/domain/plan";
import { temporaryFolder } from "../../temporary-folder";

const NOTHING = { output: null, format: null, planPath: null, exports: [], subtitles: [] };

async function talk() {
  const folder = await temporaryFolder();
  const path = join(folder.path, "talk.mov");
  await Bun.write(path, "recording");
  return { folder, path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a recording alone is rendered beside itself, with the natural options", async () => {
  await using given = await talk();
  const args = await readCutArguments([given.path]);
  expect(args?.tasks).toEqual([{ ...NOTHING, name: given.path, path: given.path, render: true }]);
  expect(args?.options).toEqual(CUT_MODES.natural);
  expect([args?.script, args?.language, args?.force, args?.json]).toEqual(["", null, false, false]);
  expect(beside(given.path, "mp4")).toBe(join(given.folder.path, "talk.cut.mp4"));
});

test("every option is taken over", async () => {
  await using given = await talk();
  const script = join(given.folder.path, "script.txt");
  await Bun.write(script, "\n One line. \n");
  const output = join(given.folder.path, "out.MOV");
  const plan = join(given.folder.path, "plan.json");
  const options = ["--mode", "tight", "--min-silence", "0.4", "--padding-before", "0", "--padding-after", "2"];
  const flags = [
    "--export",
    "edl, fcpxml,edl",
    "--subtitle",
    "vtt",
    "--keep-fillers",
    "--keep-retakes",
    "--language",
    "EN",
    "--force",
    "--json",
  ];
  const args = await readCutArguments([
    given.path,
    "-o",
    output,
    "--plan",
    plan,
    "--script",
    script,
    ...options,
    ...flags,
  ]);
  expect(args?.tasks).toEqual([
    {
      name: given.path,
      path: given.path,
      render: true,
      output,
      format: "mov",
      planPath: plan,
      exports: ["fcpxml", "edl"],
      subtitles: ["vtt"],
    },
  ]);
  expect(args?.options).toEqual({
    mode: "tight",
    min_silence_seconds: 0.4,
    padding_before_seconds: 0,
    padding_after_seconds: 2,
    remove_fillers: false,
    remove_retakes: false,
  });
  expect([args?.script, args?.language, args?.force, args?.json]).toEqual(["One line.", "en", true, true]);
});

test("a plan alone is not rendered, a plan with a format is", async () => {
  await using given = await talk();
  const plan = join(given.folder.path, "plan.json");
  const alone = await readCutArguments([given.path, "--plan", plan]);
  expect(alone?.tasks[0]).toMatchObject({ render: false, output: null, planPath: plan });
  const both = await readCutArguments([given.path, "--plan", plan, "--format", "mp3"]);
  expect(both?.tasks[0]).toMatchObject({ render: true, output: beside(given.path, "mp3") });
});

test("timelines and subtitles go beside the output, else beside the recording, and alone render nothing", async () => {
  await using given = await talk();
  const alone = (await readCutArguments([given.path, "--subtitle", "srt"]))!.tasks[0]!;
  expect([alone.render, companion(alone, "srt")]).toEqual([false, join(given.folder.path, "talk.cut.srt")]);
  const output = join(given.folder.path, "final.mp4");
  const both = (await readCutArguments([given.path, "-o", output, "--export", "fcp7xml"]))!.tasks[0]!;
  expect([both.render, companion(both, exportEnding("fcp7xml"))]).toEqual([true, join(given.folder.path, "final.xml")]);
  await Bun.write(join(given.folder.path, "final.xml"), "before");
  await expect(readCutArguments([given.path, "-o", output, "--export", "fcp7xml"])).rejects.toThrow(
    "--force overwrites",
  );
});

test("help is asked for without a recording", async () => {
  expect(await readCutArguments(["--help"])).toBeNull();
});

describe("is refused with one line:", () => {
  const refused: [string, (folder: string, talk: string) => string[], string][] = [
    ["no recording", () => [], "which FILE?"],
    ["a recording that is not there", (folder) => [join(folder, "none.mp4")], "there is no file"],
    ["a folder as a recording", (folder) => [folder], "is not a file"],
    ["an option that does not exist", (_, talk) => [talk, "--fast"], "--fast"],
    ["an unknown export", (_, talk) => [talk, "--export", "edl,aaf"], "--export takes fcpxml"],
    ["an unknown subtitle", (_, talk) => [talk, "--subtitle", "ass"], "--subtitle takes srt, vtt"],
    [
      "an export over the plan",
      (f, talk) => [talk, "--export", "json", "--plan", join(f, "talk.cut.json")],
      "two results",
    ],
    ["an unknown mode", (_, talk) => [talk, "--mode", "brutal"], "--mode takes tight, natural, loose"],
    ["an inherited property as a mode", (_, talk) => [talk, "--mode", "toString"], "--mode takes"],
    ["a silence that is too short", (_, talk) => [talk, "--min-silence", "0.05"], "--min-silence takes 0.1 to 10"],
    ["a silence that is no number", (_, talk) => [talk, "--min-silence", "short"], "--min-silence takes"],
    ["an empty padding", (_, talk) => [talk, "--padding-after", ""], "--padding-after takes"],
    ["a language of three letters", (_, talk) => [talk, "--language", "eng"], "--language takes two letters"],
    ["an unknown format", (_, talk) => [talk, "--format", "avi"], "--format takes one of"],
    ["an output without a known ending", (folder, talk) => [talk, "-o", join(folder, "out.avi")], "-o ends in one of"],
    ["a format against the ending", (f, talk) => [talk, "-o", join(f, "o.mp4"), "--format", "mp3"], "does not fit"],
    ["several recordings into one", (f, talk) => [talk, talk, "-o", join(f, "o.mp4")], "several FILEs take no -o"],
    ["several plans into one", (f, talk) => [talk, talk, "--plan", join(f, "p")], "several FILEs take no --plan"],
    ["one recording twice", (_, talk) => [talk, talk], "two results would be"],
    ["the recording as its own output", (_, talk) => [talk, "-o", talk], "is the recording itself"],
    ["the recording, forced", (_, talk) => [talk, "-o", talk, "--force"], "is the recording itself"],
    ["the plan as the output", (f, talk) => [talk, "-o", join(f, "o.mp4"), "--plan", join(f, "o.mp4")], "two results"],
    ["an output in no folder", (f, talk) => [talk, "-o", join(f, "no/o.mp4")], "there is no folder"],
    ["a script that is not there", (f, talk) => [talk, "--script", join(f, "s.txt")], "there is no script"],
  ];
  test.each(refused)("%s", async (_, argv, message) => {
    await using given = await talk();
    const reading = readCutArguments(argv(given.folder.path, given.path));
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toBeInstanceOf(UsageError);
    await reading.catch((error: Error) => expect(error.message).not.toContain("\n"));
  });
});

test("what is there is overwritten only by force, and a folder never", async () => {
  await using given = await talk();
  const target = join(given.folder.path, "out.mp4");
  await Bun.write(target, "before");
  expect(() => requireFree(given.path, target, false)).toThrow("--force overwrites it");
  expect(() => requireFree(given.path, target, true)).not.toThrow();
  await mkdir(join(given.folder.path, "folder.mp4"));
  expect(() => requireFree(given.path, join(given.folder.path, "folder.mp4"), true)).toThrow("is not a file");
});
