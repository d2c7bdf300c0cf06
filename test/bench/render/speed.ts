/**
 * Measures the CPU time of renders, compared with (a) a transcode of the same duration, (b) a stream copy and (c)
 * `select` filters: `bun test/bench/render/speed.ts [--full] [--heights 720,1080] [--gops 1,2,4,8] [--rates 12,30]
 * [--source FILE --seconds N] [--peer hevc]`. Work that a server does once per start or per file (selecting ffmpeg,
 * probing) is measured separately and subtracted.
 */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROGRAM_ENV } from "../../../src/lib/process";
import { createSource, randomPlan } from "./media";

const { values } = parseArgs({
  options: {
    full: { type: "boolean" },
    heights: { type: "string" },
    gops: { type: "string" },
    /** Segments per minute. */
    rates: { type: "string" },
    source: { type: "string" },
    seconds: { type: "string" },
    ffmpeg: { type: "string" },
    /** Codec of the transcode: `h264` or `hevc`. */
    peer: { type: "string", default: "h264" },
  },
});
const ffmpeg = values.ffmpeg ?? "ffmpeg";
const out = join(tmpdir(), `offcut-bench-${process.pid}.mp4`);
const X264 = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20"];
const X265 = ["-c:v", "libx265", "-preset", "superfast", "-crf", "22", "-x265-params", "log-level=error"];
const BASELINE = values.peer === "hevc" ? X265 : X264;
const AAC = ["-c:a", "aac", "-b:a", "160k"];

type Cost = { cpu: number; wall: number; text: string };

async function measure(command: string[]): Promise<Cost> {
  const started = performance.now();
  // Renders run in children of the program.
  const env = { ...process.env, ...PROGRAM_ENV };
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", stdin: "ignore", env });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(command.join(" "));
  const cpu = Number(child.resourceUsage()!.cpuTime.total) / 1e6;
  return { cpu, wall: (performance.now() - started) / 1000, text };
}

const measureRender = async (source: string, plan: [number, number][], output: object, path = out, cache = "") => {
  const once = (outputPath: string) =>
    measure([
      ...["bun", join(import.meta.dir, "render-once.ts"), source, outputPath, JSON.stringify(plan)],
      ...[JSON.stringify(output), values.ffmpeg ?? "", cache],
    ]);
  const [startup, whole] = [await once(""), await once(path)];
  return { ...whole, cpu: whole.cpu - startup.cpu, wall: whole.wall - startup.wall };
};

const measureFfmpeg = (...recipe: string[]) => measure([ffmpeg, "-y", "-v", "error", "-nostdin", ...recipe]);

/** Returns the plan with one start, in the middle of the recording, half a second later. */
const moveOneStart = (plan: [number, number][]): [number, number][] =>
  plan.map(([from, to], n) => (n === plan.length >> 1 ? [from + 0.5, to] : [from, to]));

async function compare(name: string, source: string, seconds: number, count: number): Promise<void> {
  const plan = randomPlan(seconds, count, 0.7, 5);
  const kept = plan.reduce((sum, [from, to]) => sum + to - from, 0);
  const between = plan.map(([from, to]) => `between(t,${from},${to})`).join("+");
  const transcode = (...filters: string[]) =>
    measureFfmpeg("-t", String(kept), "-i", source, ...filters, ...BASELINE, ...AAC, out);
  const [a, small, b, audioCopy] = [
    await transcode(),
    await transcode("-vf", "scale=-2:480"),
    await measureFfmpeg("-i", source, "-c", "copy", "-movflags", "+faststart", out),
    await measureFfmpeg("-i", source, "-vn", "-c", "copy", out),
  ];
  const c = await measureFfmpeg(
    ...["-i", source, "-vf", `select='${between}',setpts=N/FRAME_RATE/TB`],
    ...["-af", `aselect='${between}',asetpts=N/SR/TB`, ...X264, ...AAC, out],
  );
  const cache = `${out}.cache`;
  const smart = await measureRender(source, plan, {}, out, cache);
  const again = await measureRender(source, moveOneStart(plan), {}, out, cache);
  await rm(cache, { force: true });
  const { events } = JSON.parse(smart.text) as { events: { event: string; encoded_share?: number; reason?: string }[] };
  const changed = await measureRender(source, plan, { resolution: "480p" });
  const audio = await measureRender(source, plan, { format: "m4a" }, `${out}.m4a`);
  const share = events.find(({ event }) => event === "render.segments_encoded")?.encoded_share;
  const costOf = ({ cpu, wall }: Cost) => `${cpu.toFixed(2)} s CPU, ${wall.toFixed(2)} s wall`;
  const ratio = (x: Cost, y: Cost) => (x.cpu / y.cpu).toFixed(2);
  console.log(
    [
      `${name}, ${count} segments, ${kept.toFixed(0)} of ${seconds} s kept`,
      `  match-source ${smart.cpu.toFixed(1)} s CPU, ${smart.wall.toFixed(1)} s wall, ${share === undefined ? events.map((e) => e.reason).join() : `${(share * 100).toFixed(0)}% encoded`}`,
      `    against (a) transcode ${ratio(smart, a)}, (b) copy ${ratio(smart, b)}, (c) select ${ratio(smart, c)}; (a) ${a.cpu.toFixed(1)} s, (b) ${b.cpu.toFixed(2)} s, (c) ${c.cpu.toFixed(1)} s`,
      `  again after one edit ${costOf(again)}: against (a) ${ratio(again, a)}`,
      `  480p ${costOf(changed)}: against a transcode to 480p ${ratio(changed, small)} (${costOf(small)})`,
      `  audio only ${costOf(audio)}: against a copy of the audio ${ratio(audio, audioCopy)}, wall ${(audio.wall / audioCopy.wall).toFixed(2)} (${costOf(audioCopy)})`,
    ].join("\n"),
  );
}

if (values.source !== undefined) await compare(values.source, values.source, Number(values.seconds ?? 60), 12);
else {
  const seconds = Number(values.seconds ?? 60);
  const toNumbers = (text: string | undefined, all: number[], usual: number[]) =>
    text?.split(",").map(Number) ?? (values.full ? all : usual);
  for (const height of toNumbers(values.heights, [720, 1080], [720]))
    for (const gopSeconds of toNumbers(values.gops, [1, 2, 4, 8], [2]))
      for (const perMinute of toNumbers(values.rates, [12, 30], [12]))
        await compare(
          `${height}p, GOP ${gopSeconds} s`,
          await createSource({ height: height === 1080 ? 1080 : 720, gopSeconds, seconds }),
          seconds,
          (perMinute * seconds) / 60,
        );
}
