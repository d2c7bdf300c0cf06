/** The choice of encoders to try, and the detection of working ones. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createNullSandbox } from "../../../src/lib/sandbox";
import { VIDEO_ENCODERS, type VideoEncoder } from "../../../src/media/encoder-arguments";
import { chooseEncoder, detectEncoders, listCandidateEncoders, listDevices } from "../../../src/media/encoders";
import { temporaryFolder } from "../../temporary-folder";
import { bundledFfmpeg, systemFfmpeg } from "./generated-media";

test("the first working one is chosen, a forced one only if it works", () => {
  const found = { video: ["h264_nvenc", "libx264"] as VideoEncoder[], audio: [] };
  expect(chooseEncoder(found, null)).toBe("h264_nvenc");
  expect(chooseEncoder(found, "libx264")).toBe("libx264");
  expect(() => chooseEncoder(found, "h264_qsv")).toThrow("h264_qsv");
  expect(() => chooseEncoder({ video: [], audio: [] }, null)).toThrow();
});

test.each([
  [["null", "tty"], "linux", ["libx264"]],
  [["dri", "tty"], "linux", ["h264_qsv", "h264_vaapi", "libx264"]],
  [["nvidia0", "nvidiactl", "video4linux"], "linux", ["h264_nvenc", "libx264"]],
  [["video10"], "linux", ["h264_v4l2m2m", "libx264"]],
  [["dxg"], "linux", ["h264_nvenc", "h264_qsv", "h264_vaapi", "libx264"]],
  [[], "darwin", VIDEO_ENCODERS],
  [listDevices("/dev/missing"), "linux", VIDEO_ENCODERS.filter((name) => name !== "h264_videotoolbox")],
] as const)("with the devices %p on %p, %p are tried", (devices, platform, expected) => {
  expect(listCandidateEncoders(devices, platform)).toEqual([...expected]);
});

test("an ffmpeg without MP3 still has its other encoders", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "ffmpeg");
  const script = `#!/bin/sh\ncase "$*" in *libmp3lame*) exit 1;; esac\nexec ${bundledFfmpeg.path} "$@"\n`;
  await writeFile(path, script, { mode: 0o755 });
  const found = await detectEncoders({ ...bundledFfmpeg, path }, createNullSandbox("not needed here"));
  expect([found.video.at(-1), found.audio]).toEqual(["libx264", ["aac"]]);
});

test("libx264, AAC and MP3 are detected with either ffmpeg", async () => {
  for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
    const found = await detectEncoders(ffmpeg, createNullSandbox("not needed here"));
    expect(found.video).toContain("libx264");
    expect(found.audio).toEqual(["aac", "libmp3lame"]);
  }
});
