/** The job `preview` when it is interrupted. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { JobYielded } from "../../../../src/domain/jobs";
import type { PreviewFacts } from "../../../../src/domain/preview";
import type { RunContext } from "../../../../src/work/jobs/definition";
import { type PreviewInput, runPreview } from "../../../../src/work/jobs/preview-run";
import { bundledJobCommand } from "../../../http/job-command";
import { temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg, generate } from "../../media/generated-media";
import { probeFile } from "../../media/rendering";

setDefaultTimeout(120_000);

test("a preview that yields resumes after its last complete chunk", async () => {
  await using folder = await temporaryFolder();
  const recipe = ["-f", "lavfi", "-t", "62", "-i", "testsrc=s=64x36:r=5", "-c:v", "libx264", "-pix_fmt", "yuv420p"];
  const source = await generate("preview-yield.mp4", ...recipe);
  const [inputs, outputDir, workDir] = ["inputs", "outputs", "work"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(inputs);
  await copyFile(source, join(inputs, "source"));
  const { info } = await probeFile(source, bundledFfmpeg);
  const input: PreviewInput = {
    blobs: { source: { name: "source", bytes: Bun.file(source).size }, audio: null },
    info,
  };
  const tools = {
    ffmpeg: bundledFfmpeg,
    sandbox: { mode: "none" as const, reason: "a test", wrap: (command: string[]) => command },
    jobCommand: await bundledJobCommand(),
    maxFileBytes: () => null,
  };
  const shares: number[] = [];
  const run = (mustYield: boolean) => {
    const context: RunContext = {
      signal: new AbortController().signal,
      shouldYield: () => mustYield && shares.at(-1)! > 0.2,
      progress: ({ share }) => shares.push(share),
      log: () => {},
      owner: "user",
      getInputPath: (name) => join(inputs, name),
      outputDir,
      workDir,
      checkpoint: async () => {},
    };
    return runPreview(tools, input, context);
  };
  await expect(run(true)).rejects.toThrow(JobYielded);
  expect(await readdir(workDir)).toEqual(["chunk-0.ts"]);
  const { mtimeMs } = await Bun.file(join(workDir, "chunk-0.ts")).stat();
  // Files that a killed attempt leaves.
  await Bun.write(join(workDir, "chunk-1.ts.part"), "incomplete");
  await Bun.write(join(outputDir, "preview.json.part"), "{");
  const { blobs } = await run(false);
  expect((await Bun.file(join(workDir, "chunk-0.ts")).stat()).mtimeMs).toBe(mtimeMs);
  expect(blobs.map(({ name }) => name).toSorted()).toEqual([
    "preview-540p.mp4",
    "preview.index",
    "preview.json",
    "storyboard-0001.jpg",
  ]);
  const facts = (await Bun.file(join(outputDir, "preview.json")).json()) as PreviewFacts;
  expect(facts.video?.sampleCount).toBe(310);
});
