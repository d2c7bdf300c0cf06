/** Runs one render in its own process, which can be killed: `SOURCE WORK-FOLDER OUTPUT PLAN-JSON OUTPUT-JSON`. */
import { resolveOutput } from "../../../src/domain/render-output";
import { renderMedia } from "../../../src/media/render";
import { bundledFfmpeg } from "./generated-media";
import { probeFile, toSnappedSegments } from "./rendering";

const [sourcePath = "", workDir = "", outputPath = "", plan = "[]", output = "{}"] = process.argv.slice(2);
const probed = await probeFile(sourcePath);
const resolved = resolveOutput(probed, JSON.parse(output));
if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
const segments = toSnappedSegments(probed, JSON.parse(plan));
await renderMedia(
  { sourcePath, probed, segments, output: resolved.output, workDir, outputPath },
  { ffmpeg: bundledFfmpeg, chooseEncoder: async () => "libx264", maxProcesses: 2 },
);
