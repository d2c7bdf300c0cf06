/**
 * Runs one render in a separate process, so that its CPU time can be measured:
 * `bun test/bench/render/render-once.ts SOURCE OUTPUT PLAN-JSON OUTPUT-JSON [FFMPEG] [CACHE]`. With an empty OUTPUT it
 * exits after selecting ffmpeg and probing the source, which a server has done before it renders. Prints the result as
 * JSON.
 */
import { rename, rm } from "node:fs/promises";
import { resolveOutput } from "../../../src/domain/render-output";
import { getFrameAtOrAfter, getFrameAtOrBefore, getFrameTime } from "../../../src/domain/time";
import { openExtracted } from "../../../src/lib/assets";
import { selectFfmpeg } from "../../../src/media/ffmpeg";
import { probeMedia } from "../../../src/media/probe";
import { sniffMedia } from "../../../src/media/probing/sniff";
import { renderMedia } from "../../../src/media/render";
import { openRenderCache } from "../../../src/media/render-cache/cache-file";

const [sourcePath = "", outputPath = "", plan = "[]", output = "{}", forced = "", cachePath = ""] =
  process.argv.slice(2);
const bundled = openExtracted(null).ffmpeg;
const ffmpeg = await selectFfmpeg({ forced: forced === "" ? null : forced, bundled, path: process.env.PATH });
const head = new Uint8Array(await Bun.file(sourcePath).slice(0, 65_536).arrayBuffer());
const limits = { maxDurationSeconds: 86_400, maxSidePixels: 8_192, maxStreams: 64 };
const probed = await probeMedia({ path: sourcePath, sniffed: (await sniffMedia(head))!, ffmpeg, limits });
if (outputPath === "") process.exit(0);
const resolved = resolveOutput(probed, JSON.parse(output));
if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
const frames = probed.frames;
const segments = (JSON.parse(plan) as [number, number][]).map(([from, to]) => {
  if (frames === null) return { start: from * 1e6, end: to * 1e6, startFrame: null, endFrame: null };
  const startFrame = getFrameAtOrBefore(frames, from * 1e6);
  const endFrame = getFrameAtOrAfter(frames, to * 1e6);
  return { start: getFrameTime(frames, startFrame), end: getFrameTime(frames, endFrame), startFrame, endFrame };
});
const workDir = `${outputPath}.work`;
const events: object[] = [];
const newPath = `${cachePath}.new`;
const cacheFiles = { path: cachePath, newPath, maxBytes: 512 * 1024 ** 2 };
const cache = cachePath === "" ? undefined : await openRenderCache(cacheFiles);
const result = await renderMedia(
  { sourcePath, probed, segments, output: resolved.output, workDir, outputPath },
  {
    ffmpeg,
    chooseEncoder: async () => "libx264",
    maxProcesses: 2,
    log: (event, fields) => events.push({ event, ...fields }),
    cache,
  },
);
await cache?.close();
if (await Bun.file(newPath).exists()) await rename(newPath, cachePath);
await rm(workDir, { recursive: true, force: true });
console.log(
  JSON.stringify({ ...result, segments, events, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) }),
);
