/**
 * Seeks Chromium to the first and last frame of each segment of a smart render and compares the burnt-in frame numbers:
 * `bun test/bench/render/chromium.ts [--seeks 80] [--source FILE]`, with a FILE that has the frames of `createSource`.
 * Exits with 1 when one is wrong.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { RenderSegment } from "../../../src/domain/media";
import { launchChromium } from "../../chromium";
import { createSource, randomPlan } from "./media";

const { values } = parseArgs({ options: { seeks: { type: "string", default: "80" }, source: { type: "string" } } });
const RATE = 30;
const source = values.source ?? (await createSource({ height: 720, gopSeconds: 2, seconds: 60 }));
const path = join(tmpdir(), `offcut-chromium-${process.pid}.mp4`);
const render = Bun.spawn(
  ["bun", join(import.meta.dir, "render-once.ts"), source, path, JSON.stringify(randomPlan(60, 24, 0.7, 9)), "{}"],
  { stdout: "pipe", stderr: "inherit" },
);
const rendered = JSON.parse(await new Response(render.stdout).text()) as {
  strategy: string;
  segments: RenderSegment[];
};

const server = Bun.serve({
  port: 0,
  fetch(request) {
    if (new URL(request.url).pathname !== "/video.mp4")
      return new Response("<video id=v src=/video.mp4 muted preload=auto></video>", {
        headers: { "content-type": "text/html" },
      });
    const file = Bun.file(path);
    const range = /bytes=(\d+)-(\d*)/.exec(request.headers.get("range") ?? "");
    if (range === null) return new Response(file, { headers: { "accept-ranges": "bytes" } });
    const from = Number(range[1]);
    const to = range[2] === "" ? file.size - 1 : Number(range[2]);
    const headers = { "content-range": `bytes ${from}-${to}/${file.size}`, "content-type": "video/mp4" };
    return new Response(file.slice(from, to + 1), { status: 206, headers });
  },
});

/** Output frames with the number that each must show. */
const expected: { frame: number; number: number }[] = [];
let at = 0;
for (const { startFrame, endFrame } of rendered.segments) {
  const count = endFrame! - startFrame!;
  expected.push({ frame: at, number: startFrame! }, { frame: at + count - 1, number: endFrame! - 1 });
  at += count;
}
const seeks = expected.slice(0, Number(values.seeks));

const browser = await launchChromium([], true);
const page = await browser.newPage();
await page.goto(`http://localhost:${server.port}/`);
const shown = await page.evaluate(
  async (times) => {
    const video = document.querySelector("video")!;
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d", { willReadFrequently: true })!;
    const once = (name: string) => new Promise((resolve) => video.addEventListener(name, resolve, { once: true }));
    if (video.readyState < 2) await once("loadeddata");
    canvas.width = 640;
    canvas.height = 40;
    const numbers: number[] = [];
    for (const time of times) {
      const seeked = once("seeked");
      video.currentTime = time;
      await seeked;
      await new Promise((resolve) => setTimeout(resolve, 30));
      context.drawImage(video, 0, 0, 640, 40, 0, 0, 640, 40);
      const { data } = context.getImageData(0, 0, 640, 40);
      let number = 0;
      for (let bit = 0; bit < 16; bit++) if (data[(20 * 640 + bit * 40 + 20) * 4]! > 128) number |= 1 << bit;
      numbers.push(number);
    }
    return numbers;
  },
  seeks.map(({ frame }) => (frame + 0.5) / RATE),
);
await browser.close();
await server.stop(true);
const wrong = seeks.filter(({ number }, n) => shown[n] !== number);
console.log(`${rendered.strategy}: ${seeks.length} seeks, ${wrong.length} wrong`, wrong.slice(0, 5));
process.exit(wrong.length === 0 ? 0 : 1);
