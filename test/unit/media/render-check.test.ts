import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { OutputRequest } from "../../../src/domain/render-output";
import { resolveOutput } from "../../../src/domain/render-output";
import { checkRenderedFile } from "../../../src/media/render-check";
import { plainMp4 } from "./generated-media";
import { probeFile, toSnappedSegments, withRender } from "./rendering";

setDefaultTimeout(120_000);

const SECONDS = [
  [0.5, 3],
  [4.2, 7.1],
  [8, 11],
] as const;

/** Renders, and checks the file as if it were the result of a request for `expected`. `change` may damage it before. */
async function check(
  output: OutputRequest,
  { expected = output, seconds = SECONDS as readonly (readonly [number, number])[] } = {},
  change = (bytes: Uint8Array) => bytes,
): Promise<string | null> {
  const path = await plainMp4();
  const probed = await probeFile(path);
  return await withRender({ path, probed, segments: toSnappedSegments(probed, SECONDS), output }, async (rendered) => {
    const changed = join(rendered.folder, "changed");
    await Bun.write(changed, change(await Bun.file(rendered.path).bytes()));
    const resolved = resolveOutput(probed, expected);
    if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
    const { problem } = await checkRenderedFile(
      { probed, segments: toSnappedSegments(probed, seconds), output: resolved.output },
      changed,
    );
    return problem;
  });
}

test.each<[string, OutputRequest]>([
  ["copied packets", {}],
  ["another bitrate", { video_bitrate: 100_000 }],
  ["another frame rate", { frame_rate: 24 }],
  ["QuickTime", { format: "mov" }],
  ["audio in MP4", { format: "m4a" }],
  ["MP3", { format: "mp3" }],
])("accepts what was rendered: %s", async (_, output) => {
  expect(await check(output)).toBeNull();
});

const BITRATE = { video_bitrate: 100_000 };

test("finds other files, frames and tracks", async () => {
  expect(await check(BITRATE, { seconds: [[0.5, 3]] })).toMatch(/^The file has 252 frames, expected 75\.$/);
  expect(await check({}, { seconds: [[0, 12]] })).toMatch(/of 360 frames/);
  expect(await check({ format: "m4a" }, { expected: BITRATE })).toBe("The file has 0 video tracks, expected 1.");
  expect(await check(BITRATE, { expected: { format: "m4a" } })).toBe("The file has 1 video tracks, expected 0.");
  expect(await check({ format: "mp3" }, { expected: BITRATE })).toContain("expected mp4");
  expect(await check(BITRATE, { expected: { format: "mp3" } })).toBe("The file is not MP3.");
});

test("finds damaged files", async () => {
  expect(await check(BITRATE, {}, () => new TextEncoder().encode("no media"))).toBe("The file is not a media file.");
  expect(await check(BITRATE, {}, (bytes) => bytes.slice(0, bytes.length - 5_000))).toContain("incomplete");
  expect(await check(BITRATE, {}, (bytes) => bytes.slice(0, 500))).not.toBeNull();
});
