/** The order in which pieces are encoded from sources, with a program in place of ffmpeg that notes its priority. */
import { expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { MediaInfo, VideoStream } from "../../../../src/domain/media";
import type { Asset } from "../../../../src/store/assets";
import { createEncodingSemaphore, createLivePieces } from "../../../../src/work/previews/live-pieces";
import { temporaryFolder } from "../../../temporary-folder";

const sandbox = { mode: "none", reason: "a test", wrap: (command: string[]) => command } as const;
const VIDEO: VideoStream = {
  codec: "mpeg4",
  ...{
    width: 320,
    height: 240,
    codedWidth: 320,
    codedHeight: 240,
    rotation: 0 as const,
    pixelAspect: { num: 1, den: 1 },
  },
  ...{ frameRate: { num: 25, den: 1 }, variable: false, bitrate: null, pixelFormat: "yuv420p", bitDepth: 8 },
  ...{ color: { primaries: null, transfer: null, matrix: null, range: null }, interlaced: false },
};
const INFO: MediaInfo = {
  ...{ type: "video", demuxer: "avi", duration: 400e6, startPts: 0, timecode: null },
  video: VIDEO,
  audio: [],
};
const assetOf = (workspace: string, id: string) => ({ id, workspace_id: workspace, info: INFO }) as Asset;

test("a half more than what is played is encoded before renders, the rest after everything else", async () => {
  await using folder = await temporaryFolder();
  const [program, log] = [join(folder.path, "ffmpeg"), join(folder.path, "log")];
  // It reads its priority once the server has set it.
  await Bun.write(program, `#!/bin/sh\nuntil [ -e "${log}.set" ]; do :; done\nrm "${log}.set"\nnice >> "${log}"\n`);
  await chmod(program, 0o755);
  const tools = { ffmpeg: { path: program, version: "5", bundled: false, libavutil: 57, hasZscale: false }, sandbox };
  let now = 1e12;
  const live = createLivePieces(tools, createEncodingSemaphore(), () => now);
  const { signal } = new AbortController();
  const read = async (workspace: string, n: number) => {
    const asset = assetOf(workspace, `${workspace} ${n}`);
    const reading = live.read("video", { asset, path: "/film.avi", signal, from: 8 * n, to: 8 * n + 8 });
    await new Promise((resolve) => setImmediate(resolve));
    await Bun.write(`${log}.set`, "");
    await reading;
  };
  const priorities = async () => (await Bun.file(log).text()).trim().split("\n").map(Number);
  for (let n = 0; n < 5; n++) await read("a", n);
  const [base] = await priorities();
  const lowered = (await priorities()).map((nice) => nice > base!);
  expect(lowered).toEqual(Array.from({ length: 5 }, (_, n) => n >= 2));
  // Another workspace has its own share, what is cached costs nothing, and ten seconds later there is a new share.
  await read("b", 0);
  await read("b", 0);
  now += 10_001;
  await read("a", 5);
  expect((await priorities()).slice(5)).toEqual([base!, base!]);
});

test("a recording without the track is refused", async () => {
  const tools = {
    ffmpeg: { path: "/none", version: "5", bundled: false, libavutil: 57, hasZscale: false },
    sandbox,
  };
  const live = createLivePieces(tools, createEncodingSemaphore());
  const { signal } = new AbortController();
  const asset = assetOf("a", "1");
  expect(await live.read("audio", { asset, path: "/film.avi", from: 0, to: 8, signal }).catch(({ code }) => code)).toBe(
    "not_found",
  );
});
