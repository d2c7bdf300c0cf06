/**
 * One render in a process of its own, so that its processor time can be read: `SOURCE OUTPUT PLAN-JSON OUTPUT-JSON [FFMPEG]`. Without an
 * output it ends where a server has long been when it renders: with an ffmpeg found and the source probed.
 */
import { rm } from "node:fs/promises";
import { resolveOutput } from "../../../src/domain/render-output";
import { frameAtOrAfter, frameAtOrBefore, frameTime } from "../../../src/domain/time";
import { openExtracted } from "../../../src/lib/assets";
import { findFfmpeg } from "../../../src/media/ffmpeg";
import { probe } from "../../../src/media/probe";
import { sniff } from "../../../src/media/probing/sniff";
import { renderMedia } from "../../../src/media/render";

const [sourcePath = "", outputPath = "", plan = "[]", output = "{}", forced = ""] = process.argv.slice(2);
const bundled = openExtracted(null).ffmpeg;
const ffmpeg = await findFfmpeg({ forced: forced === "" ? null : forced, bundled, path: process.env.PATH });
const head = new Uint8Array(await Bun.file(sourcePath).slice(0, 65_536).arrayBuffer());
const limits = { durationSeconds: 86_400, side: 8_192, streams: 64 };
const probed = await probe({ path: sourcePath, sniffed: (await sniff(head))!, ffmpeg, limits });
if (outputPath === "") process.exit(0);
const resolved = resolveOutput(probed, JSON.parse(output));
if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
const frames = probed.frames;
const segments = (JSON.parse(plan) as [number, number][]).map(([from, to]) => {
  if (frames === null) return { start: from * 1e6, end: to * 1e6, startFrame: null, endFrame: null };
  const startFrame = frameAtOrBefore(frames, from * 1e6);
  const endFrame = frameAtOrAfter(frames, to * 1e6);
  return { start: frameTime(frames, startFrame), end: frameTime(frames, endFrame), startFrame, endFrame };
});
const workDir = `${outputPath}.work`;
const events: object[] = [];
const result = await renderMedia(
  { sourcePath, probed, segments, output: resolved.output, workDir, outputPath },
  { ffmpeg, encoder: "libx264", jobs: 2, log: (event, fields) => events.push({ event, ...fields }) },
);
await rm(workDir, { recursive: true, force: true });
console.log(
  JSON.stringify({ ...result, segments, events, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) }),
);
