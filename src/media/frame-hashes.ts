/** Hashes of the decoded video and audio of a finished render. */
import { join } from "node:path";
import type { ResolvedOutput } from "../domain/media";
import type { Sandbox } from "../lib/sandbox";
import { buildInputArguments, buildOutputArguments, buildPassthroughArguments, QUIET_ARGUMENTS } from "./arguments";
import { createWorkLimits, type Ffmpeg, runFfmpeg } from "./ffmpeg";

/** The hashes of the decoded frames in order; `audio` has those of the decoded packets. Empty for a missing stream. */
export type FrameHashes = { video: string[]; audio: string[] };

type HashOptions = {
  ffmpeg: Ffmpeg;
  sandbox: Sandbox;
  path: string;
  output: Pick<ResolvedOutput, "format" | "video" | "audio">;
  /** The folder for temporary files. */
  workDir: string;
  maxSeconds: number;
  signal: AbortSignal;
};

/** Decodes a render and hashes each frame. Errors: those of `runFfmpeg`; the signal's reason. */
export async function hashFrames(options: HashOptions): Promise<FrameHashes> {
  const { ffmpeg, sandbox, path, output, workDir, maxSeconds, signal } = options;
  const lists = { video: join(workDir, "video.hashes"), audio: join(workDir, "audio.hashes") };
  const list = (stream: string, target: string, extra: string[] = []) => [
    ...["-map", stream, ...extra, "-f", "framemd5"],
    ...buildOutputArguments(target),
  ];
  await runFfmpeg({
    ffmpeg,
    sandbox: { sandbox, view: { readOnly: [path], writable: [workDir], devices: false } },
    arguments: [
      ...QUIET_ARGUMENTS,
      ...buildInputArguments({ path, demuxer: output.format === "mp3" ? "mp3" : "mov" }),
      ...(output.video ? list("0:v:0", lists.video, buildPassthroughArguments(ffmpeg.libavutil)) : []),
      ...(output.audio ? list("0:a:0", lists.audio) : []),
    ],
    limits: createWorkLimits(maxSeconds),
    priority: "lowest",
    signal,
  });
  return {
    video: output.video ? await readHashes(lists.video) : [],
    audio: output.audio ? await readHashes(lists.audio) : [],
  };
}

/** Reads the last column of a list that ffmpeg has written. */
async function readHashes(path: string): Promise<string[]> {
  const lines = (await Bun.file(path).text()).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split(",").at(-1)!.trim());
}
