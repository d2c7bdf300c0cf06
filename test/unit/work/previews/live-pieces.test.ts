/** The order in which pieces are encoded from sources, with a program in place of ffmpeg that notes its priority. */
import { expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { MediaInfo, VideoStream } from "../../../../src/domain/media";
import type { Asset } from "../../../../src/store/assets";
import { createEncodingTurns, type EncodingTurns } from "../../../../src/work/previews/encoding-turns";
import { createLivePieces } from "../../../../src/work/previews/live-pieces";
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

test("a workspace's share is encoded before renders, the rest after everything else, one piece at a time", async () => {
  await using folder = await temporaryFolder();
  const [program, log] = [join(folder.path, "ffmpeg"), join(folder.path, "log")];
  await Bun.write(program, `#!/bin/sh\necho start $(nice) >> "${log}"\necho end >> "${log}"\n`);
  await chmod(program, 0o755);
  const tools = {
    ffmpeg: { path: program, version: "5", bundled: false, libavutil: 57, hasZscale: false },
    sandbox,
    jobCommand: [],
    maxFileBytes: () => null,
  };
  let now = 1e12;
  // A process uses more than this share, and a hundred seconds compensate for it.
  const live = createLivePieces(
    tools,
    createEncodingTurns({ rate: 0.001, burst: 0.0001 }, () => now),
  );
  const { signal } = new AbortController();
  const read = (workspace: string, n: number) => {
    const asset = assetOf(workspace, `${workspace} ${n}`);
    return live.read("video", {
      asset,
      path: "/film.avi",
      noiseReduction: null,
      speechAnalysis: null,
      signal,
      from: n,
      to: n + 0.001,
    });
  };
  const takeLog = async () => {
    const lines = (await Bun.file(log).text()).trim().split("\n");
    await Bun.write(log, "");
    return lines;
  };
  await read("a", 0);
  const [first] = await takeLog();
  // Many recordings are played simultaneously.
  await Promise.all(Array.from({ length: 10 }, (_, n) => read("a", n + 1)));
  const rest = await takeLog();
  expect(rest).toHaveLength(20);
  for (const [n, line] of rest.entries()) expect(line).toBe(n % 2 === 0 ? "start 19" : "end");
  // Another workspace has its own share, cached pieces cost nothing, and the share recovers over time.
  await read("b", 0);
  await read("b", 0);
  expect(await takeLog()).toEqual([first!, "end"]);
  now += 1e6;
  await read("a", 50);
  expect(await takeLog()).toEqual([first!, "end"]);
  expect(first).not.toBe("start 19");
});

test("a recording without the track is refused", async () => {
  const tools = {
    ffmpeg: { path: "/none", version: "5", bundled: false, libavutil: 57, hasZscale: false },
    sandbox,
    jobCommand: [],
    maxFileBytes: () => null,
  };
  const live = createLivePieces(tools, createEncodingTurns());
  const { signal } = new AbortController();
  const asset = assetOf("a", "1");
  expect(
    await live
      .read("audio", { asset, path: "/film.avi", from: 0, to: 8, noiseReduction: null, speechAnalysis: null, signal })
      .catch(({ code }) => code),
  ).toBe("not_found");
});

test("clean audio whose child fails costs the processor time that it took", async () => {
  const spent: number[] = [];
  const turns: EncodingTurns = {
    run: (_, encode) => encode({ priority: "interactive", onEnd: (seconds) => spent.push(seconds) }),
  };
  const tools = {
    ffmpeg: { path: "/none", version: "5", bundled: false, libavutil: 57, hasZscale: false },
    sandbox,
    jobCommand: ["/bin/sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"],
    maxFileBytes: () => null,
  };
  const { signal } = new AbortController();
  const info = {
    ...INFO,
    audio: [{ index: 0, codec: "aac", sampleRate: 48_000, channels: 2, bitrate: null, language: null, title: null }],
  };
  const asset = { ...assetOf("a", "1"), info };
  const piece = {
    asset,
    path: "/film.avi",
    from: 0,
    to: 1,
    noiseReduction: "strong" as const,
    speechAnalysis: null,
    signal,
  };
  const error = await createLivePieces(tools, turns)
    .read("audio", piece)
    .catch((reason: Error) => reason);
  expect(String(error)).toContain("job child ended");
  expect(spent).toHaveLength(1);
  expect(spent[0]).toBeGreaterThan(0.1);
});
