/**
 * How fast renders are, in processor seconds against (a) a plain transcode of the kept time, (b) a copy of the file and (c) select filters:
 * `bun test/bench/render/speed.ts [--full] [--heights 720,1080] [--gops 1,2,4,8] [--rates 12,30] [--source FILE --seconds N] [--peer hevc]`. What a server does once, at its start and when a file arrives
 * (finding ffmpeg, probing), is measured apart and taken off.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchSource, randomPlan } from "./media";

const { values } = parseArgs({
  options: {
    full: { type: "boolean" },
    heights: { type: "string" },
    gops: { type: "string" },
    /** Segments a minute. */
    rates: { type: "string" },
    source: { type: "string" },
    seconds: { type: "string" },
    ffmpeg: { type: "string" },
    /** What a plain transcode encodes with: `h264`, or `hevc`. */
    peer: { type: "string", default: "h264" },
  },
});
const ffmpeg = values.ffmpeg ?? "ffmpeg";
const out = join(tmpdir(), `offcut-bench-${process.pid}.mp4`);
const X264 = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20"];
const X265 = ["-c:v", "libx265", "-preset", "superfast", "-crf", "22", "-x265-params", "log-level=error"];
const PEER = values.peer === "hevc" ? X265 : X264;
const AAC = ["-c:a", "aac", "-b:a", "160k"];

type Cost = { cpu: number; wall: number; text: string };

async function measure(command: string[]): Promise<Cost> {
  const started = performance.now();
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit", stdin: "ignore" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(command.join(" "));
  const cpu = Number(child.resourceUsage()!.cpuTime.total) / 1e6;
  return { cpu, wall: (performance.now() - started) / 1000, text };
}

const ours = async (source: string, plan: [number, number][], output: object, path = out) => {
  const once = (outputPath: string) =>
    measure([
      ...["bun", join(import.meta.dir, "render-once.ts"), source, outputPath, JSON.stringify(plan)],
      ...[JSON.stringify(output), ...(values.ffmpeg === undefined ? [] : [values.ffmpeg])],
    ]);
  const [ready, whole] = [await once(""), await once(path)];
  return { ...whole, cpu: whole.cpu - ready.cpu, wall: whole.wall - ready.wall };
};

const plain = (...recipe: string[]) => measure([ffmpeg, "-y", "-v", "error", "-nostdin", ...recipe]);

async function compare(name: string, source: string, seconds: number, count: number): Promise<void> {
  const plan = randomPlan(seconds, count, 0.7, 5);
  const kept = plan.reduce((sum, [from, to]) => sum + to - from, 0);
  const between = plan.map(([from, to]) => `between(t,${from},${to})`).join("+");
  const transcode = (...filters: string[]) => plain("-t", String(kept), "-i", source, ...filters, ...PEER, ...AAC, out);
  const [a, small, b, sound] = [
    await transcode(),
    await transcode("-vf", "scale=-2:480"),
    await plain("-i", source, "-c", "copy", "-movflags", "+faststart", out),
    await plain("-i", source, "-vn", "-c", "copy", out),
  ];
  const c = await plain(
    ...["-i", source, "-vf", `select='${between}',setpts=N/FRAME_RATE/TB`],
    ...["-af", `aselect='${between}',asetpts=N/SR/TB`, ...X264, ...AAC, out],
  );
  const smart = await ours(source, plan, {});
  const { events } = JSON.parse(smart.text) as { events: { event: string; encoded_share?: number; reason?: string }[] };
  const changed = await ours(source, plan, { resolution: "480p" });
  const audio = await ours(source, plan, { format: "m4a" }, `${out}.m4a`);
  const share = events.find(({ event }) => event === "render.segments_encoded")?.encoded_share;
  const costOf = ({ cpu, wall }: Cost) => `${cpu.toFixed(2)} s CPU, ${wall.toFixed(2)} s wall`;
  const ratio = (x: Cost, y: Cost) => (x.cpu / y.cpu).toFixed(2);
  console.log(
    [
      `${name}, ${count} segments, ${kept.toFixed(0)} of ${seconds} s kept`,
      `  match-source ${smart.cpu.toFixed(1)} s CPU, ${smart.wall.toFixed(1)} s wall, ${share === undefined ? events.map((e) => e.reason).join() : `${(share * 100).toFixed(0)}% encoded`}`,
      `    against (a) transcode ${ratio(smart, a)}, (b) copy ${ratio(smart, b)}, (c) select ${ratio(smart, c)}; (a) ${a.cpu.toFixed(1)} s, (b) ${b.cpu.toFixed(2)} s, (c) ${c.cpu.toFixed(1)} s`,
      `  480p ${costOf(changed)}: against a transcode to 480p ${ratio(changed, small)} (${costOf(small)})`,
      `  sound only ${costOf(audio)}: against a copy of the sound ${ratio(audio, sound)}, wall ${(audio.wall / sound.wall).toFixed(2)} (${costOf(sound)})`,
    ].join("\n"),
  );
}

if (values.source !== undefined) await compare(values.source, values.source, Number(values.seconds ?? 60), 12);
else {
  const seconds = Number(values.seconds ?? 60);
  const listed = (text: string | undefined, all: number[], usual: number[]) =>
    text?.split(",").map(Number) ?? (values.full ? all : usual);
  for (const height of listed(values.heights, [720, 1080], [720]))
    for (const gopSeconds of listed(values.gops, [1, 2, 4, 8], [2]))
      for (const perMinute of listed(values.rates, [12, 30], [12]))
        await compare(
          `${height}p, GOP ${gopSeconds} s`,
          await benchSource({ height: height === 1080 ? 1080 : 720, gopSeconds, seconds }),
          seconds,
          (perMinute * seconds) / 60,
        );
}
