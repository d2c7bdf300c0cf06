import { describe, expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readCutArguments } from "../../../src/cli/cut";
import { requireFree, toCompanionPath, toCutPath } from "../../../src/cli/cut-tasks";
import { UsageError } from "../../../src/cli/options";
import { CUT_MODES } from "../../../src/domain/plan";
import { getExportExtension } from "../../../src/domain/timeline";
import { temporaryFolder } from "../../temporary-folder";

const NOTHING = {
  output: null,
  format: null,
  loudness: null,
  noiseReduction: "off" as const,
  levelSpeakers: false,
  planPath: null,
  exports: [],
  subtitles: [],
  transcripts: [],
};

async function talk() {
  const folder = await temporaryFolder();
  const path = join(folder.path, "talk.mov");
  await Bun.write(path, "recording");
  return { folder, path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a recording alone is rendered into its own folder, with the natural options", async () => {
  await using given = await talk();
  const args = await readCutArguments([given.path]);
  expect(args?.tasks).toEqual([{ ...NOTHING, name: given.path, path: given.path, render: true }]);
  expect(args?.options).toEqual(CUT_MODES.natural);
  expect([args?.script, args?.language, args?.force, args?.json]).toEqual(["", null, false, false]);
  expect(toCutPath(given.path, "mp4")).toBe(join(given.folder.path, "talk.cut.mp4"));
});

test("every option is parsed", async () => {
  await using given = await talk();
  const script = join(given.folder.path, "script.txt");
  await Bun.write(script, "\n One line. \n");
  const vocabulary = join(given.folder.path, "names.txt");
  await Bun.write(vocabulary, "Offcut = off cut\n");
  const output = join(given.folder.path, "out.MOV");
  const plan = join(given.folder.path, "plan.json");
  const options = ["--mode", "tight", "--min-silence", "0.4", "--padding-before", "0", "--padding-after", "2"];
  const flags = [
    "--export",
    "edl, fcpxml,edl",
    "--subtitle",
    "vtt",
    "--transcript",
    "docx",
    "--keep-fillers",
    "--keep-retakes",
    "--language",
    "EN",
    "--force",
    "--explain",
    "--json",
  ];
  const args = await readCutArguments([
    given.path,
    "-o",
    output,
    "--plan",
    plan,
    "--vocabulary",
    vocabulary,
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
      loudness: null,
      noiseReduction: "off",
      levelSpeakers: false,
      planPath: plan,
      exports: ["fcpxml", "edl"],
      subtitles: ["vtt"],
      transcripts: ["docx"],
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
  expect(args?.vocabulary).toEqual([{ text: "Offcut", spoken_as: ["off cut"] }]);
  expect([args?.script, args?.language, args?.force, args?.explain, args?.json]).toEqual([
    "One line.",
    "en",
    true,
    "rules",
    true,
  ]);
});

test("a plan alone is not rendered, a plan with a format is", async () => {
  await using given = await talk();
  const plan = join(given.folder.path, "plan.json");
  const alone = await readCutArguments([given.path, "--plan", plan]);
  expect(alone?.tasks[0]).toMatchObject({ render: false, output: null, planPath: plan });
  const both = await readCutArguments([given.path, "--plan", plan, "--format", "mp3"]);
  expect(both?.tasks[0]).toMatchObject({ render: true, output: toCutPath(given.path, "mp3") });
});

test("timelines and subtitles are written next to the output, otherwise next to the recording, and alone render nothing", async () => {
  await using given = await talk();
  const alone = (await readCutArguments([given.path, "--subtitle", "srt"]))!.tasks[0]!;
  expect([alone.render, toCompanionPath(alone, "srt")]).toEqual([false, join(given.folder.path, "talk.cut.srt")]);
  const output = join(given.folder.path, "final.mp4");
  const both = (await readCutArguments([given.path, "-o", output, "--export", "fcp7xml"]))!.tasks[0]!;
  expect([both.render, toCompanionPath(both, getExportExtension("fcp7xml"))]).toEqual([
    true,
    join(given.folder.path, "final.xml"),
  ]);
  await Bun.write(join(given.folder.path, "final.xml"), "before");
  await expect(readCutArguments([given.path, "-o", output, "--export", "fcp7xml"])).rejects.toThrow(
    "add --force to overwrite",
  );
});

test("help needs no recording", async () => {
  expect(await readCutArguments(["--help"])).toBeNull();
});

describe("is rejected with one line:", () => {
  const rejected: [string, (folder: string, talk: string) => string[], string][] = [
    ["no recording", () => [], "FILE is missing"],
    ["a missing recording", (folder) => [join(folder, "none.mp4")], "file not found"],
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
    ["a silence that is not a number", (_, talk) => [talk, "--min-silence", "short"], "--min-silence takes"],
    ["an empty padding", (_, talk) => [talk, "--padding-after", ""], "--padding-after takes"],
    ["a language of three letters", (_, talk) => [talk, "--language", "eng"], "--language takes two letters"],
    ["an unknown format", (_, talk) => [talk, "--format", "avi"], "--format takes one of"],
    [
      "an output without a known extension",
      (folder, talk) => [talk, "-o", join(folder, "out.avi")],
      "-o must end in one of",
    ],
    [
      "a format that does not match the extension",
      (f, talk) => [talk, "-o", join(f, "o.mp4"), "--format", "mp3"],
      "does not match the extension",
    ],
    ["several recordings into one", (f, talk) => [talk, talk, "-o", join(f, "o.mp4")], "-o takes a single FILE"],
    ["several plans into one", (f, talk) => [talk, talk, "--plan", join(f, "p")], "--plan takes a single FILE"],
    ["one recording twice", (_, talk) => [talk, talk], "two results have the same path"],
    ["the recording as its own output", (_, talk) => [talk, "-o", talk], "is the recording itself"],
    ["the recording, forced", (_, talk) => [talk, "-o", talk, "--force"], "is the recording itself"],
    ["the plan as the output", (f, talk) => [talk, "-o", join(f, "o.mp4"), "--plan", join(f, "o.mp4")], "two results"],
    ["an output in a missing folder", (f, talk) => [talk, "-o", join(f, "no/o.mp4")], "folder not found"],
    ["a missing vocabulary", (f, talk) => [talk, "--vocabulary", join(f, "v.txt")], "vocabulary not found"],
    ["a missing script", (f, talk) => [talk, "--script", join(f, "s.txt")], "script not found"],
  ];
  test.each(rejected)("%s", async (_, argv, message) => {
    await using given = await talk();
    const result = readCutArguments(argv(given.folder.path, given.path));
    await expect(result).rejects.toThrow(message);
    await expect(result).rejects.toBeInstanceOf(UsageError);
    await result.catch((error: Error) => expect(error.message).not.toContain("\n"));
  });
});

test("existing files are overwritten only with --force, folders never", async () => {
  await using given = await talk();
  const target = join(given.folder.path, "out.mp4");
  await Bun.write(target, "before");
  expect(() => requireFree(given.path, target, false)).toThrow("add --force to overwrite it");
  expect(() => requireFree(given.path, target, true)).not.toThrow();
  await mkdir(join(given.folder.path, "folder.mp4"));
  expect(() => requireFree(given.path, join(given.folder.path, "folder.mp4"), true)).toThrow("is not a file");
});

test("--explain has a kind, and no other value", async () => {
  await using given = await talk();
  for (const [flag, kind] of [
    ["--explain", "rules"],
    ["--explain=rules", "rules"],
    ["--explain=stages", "stages"],
    ["--explain=thresholds", "thresholds"],
  ] as const)
    expect((await readCutArguments([given.path, flag]))?.explain).toBe(kind);
  expect((await readCutArguments([given.path]))?.explain).toBe(null);
  await expect(readCutArguments([given.path, "--explain=words"])).rejects.toThrow("--explain takes rules, stages");
});

test("a vocabulary that cannot be used is refused with its line", async () => {
  await using given = await talk();
  const path = join(given.folder.path, "names.txt");
  await Bun.write(path, "Offcut = off cut\n\n = nothing\n");
  await expect(readCutArguments([given.path, "--vocabulary", path])).rejects.toThrow(
    `vocabulary ${path}, line 3: the term is missing`,
  );
  truncateSync(path, 100_000_000);
  await expect(readCutArguments([given.path, "--vocabulary", path])).rejects.toThrow("at most 400000 characters");
  await Bun.write(path, Uint8Array.from(Buffer.from("Offcut\nM\xfcller\n", "latin1")));
  await expect(readCutArguments([given.path, "--vocabulary", path])).rejects.toThrow(
    `vocabulary ${path}, line 2: the text is not UTF-8: save the file as UTF-8`,
  );
  await Bun.write(path, "");
  await expect(readCutArguments([given.path, "--vocabulary", path])).rejects.toThrow(`vocabulary ${path} has no terms`);
  for (const other of [given.folder.path, "/dev/zero"])
    await expect(readCutArguments([given.path, "--vocabulary", other])).rejects.toThrow(
      `vocabulary ${other} is not a file`,
    );
});

test("a vocabulary and a script are read from files in other encodings and from pipes", async () => {
  await using given = await talk();
  const path = join(given.folder.path, "names.txt");
  await Bun.write(path, Buffer.from("\ufeffMüller = muller\r\n", "utf16le"));
  expect((await readCutArguments([given.path, "--vocabulary", path]))?.vocabulary).toEqual([
    { text: "Müller", spoken_as: ["muller"] },
  ]);
  await Bun.write(path, Buffer.from("Müller", "latin1"));
  expect((await readCutArguments([given.path, "--script", path]))?.script).toBe("Müller");
  const read = async (option: string, text: string) => {
    const pipe = join(given.folder.path, `${option}.pipe`);
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    const writer = Bun.spawn(["sh", "-c", 'printf %s "$1" > "$2"', "sh", text, pipe]);
    const args = await readCutArguments([given.path, `--${option}`, pipe]);
    expect(await writer.exited).toBe(0);
    return args;
  };
  expect((await read("vocabulary", "Offcut\n"))?.vocabulary).toEqual([{ text: "Offcut", spoken_as: [] }]);
  expect((await read("script", "One line.\n"))?.script).toBe("One line.");
});
