/** Plans with many segments: 100 in five minutes by default, 2,000 in three hours with `OFFCUT_FULL=1`. */
import { expect, test } from "bun:test";
import { fullOr } from "../../full-size";
import { aac, audioInput, generate, h264, systemFfmpeg, videoInput } from "./generated-media";
import { readFrameNumbers } from "./readback";
import { probeFile, toSnappedSegments, withRender } from "./rendering";

const [SECONDS, SEGMENTS] = fullOr<[number, number]>([3 * 3600, 2_000], [300, 100]);
/** Low enough to read back three hours of frames at once. */
const FRAMES_PER_SECOND = 10;
/** The drawn numbers have sixteen bits. */
const NUMBERS = 2 ** 16;

test(
  `${SEGMENTS} segments of ${SECONDS} seconds come out frame by frame`,
  async () => {
    const rate = String(FRAMES_PER_SECOND);
    const path = await generate(
      `many-${SECONDS}.mp4`,
      ...videoInput(rate, SECONDS),
      ...audioInput(16_000, 1, SECONDS),
      ...h264(FRAMES_PER_SECOND),
      ...aac,
    );
    const probed = await probeFile(path, systemFfmpeg);
    const each = SECONDS / SEGMENTS;
    const segments = toSnappedSegments(
      probed,
      Array.from({ length: SEGMENTS }, (_, n) => [n * each, n * each + 0.65 * each] as const),
    );
    const planned = segments.flatMap(({ startFrame, endFrame }) =>
      Array.from({ length: endFrame! - startFrame! }, (_, n) => (startFrame! + n) % NUMBERS),
    );
    const started = performance.now();
    await withRender({ path, probed, segments, ffmpeg: systemFfmpeg }, async (rendered) => {
      const seconds = (performance.now() - started) / 1000;
      console.log(`${SEGMENTS} segments: ${rendered.result.strategy}, ${seconds.toFixed(0)} s`);
      expect(rendered.result.strategy).toBe("smart");
      const shown = await readFrameNumbers(rendered.path);
      expect(shown.length).toBe(planned.length);
      expect(shown.findIndex((number, n) => number !== planned[n])).toBe(-1);
      const stated = planned.length / FRAMES_PER_SECOND;
      expect(Math.abs(rendered.result.duration / 1e6 - stated)).toBeLessThan(1 / FRAMES_PER_SECOND);
    });
  },
  fullOr(1_800_000, 60_000),
);

test("110 segments of two frames after a long one come out frame by frame", async () => {
  const [long, short, copied] = [500, 110, 60];
  const keyframe = long + 3 * short + 10;
  const path = await generate(
    "many-short.mp4",
    ...videoInput(String(FRAMES_PER_SECOND), (keyframe + copied) / FRAMES_PER_SECOND),
    ...h264(keyframe, "-sc_threshold", "0"),
  );
  const probed = await probeFile(path, systemFfmpeg);
  // Only the last range has an access point: all others are encoded.
  const ranges: (readonly [number, number])[] = [
    [1, long],
    ...Array.from({ length: short }, (_, n) => [long + 3 * n + 1, long + 3 * n + 3] as const),
    [keyframe, keyframe + copied],
  ];
  const segments = toSnappedSegments(
    probed,
    ranges.map(([from, to]) => [(from + 0.5) / FRAMES_PER_SECOND, (to - 0.5) / FRAMES_PER_SECOND] as const),
  );
  const planned = ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, n) => from + n));
  await withRender({ path, probed, segments, ffmpeg: systemFfmpeg }, async (rendered) => {
    expect(rendered.result).toMatchObject({ strategy: "smart", reasons: [] });
    expect(await readFrameNumbers(rendered.path)).toEqual(planned);
  });
}, 60_000);
