import { expect, setDefaultTimeout, test } from "bun:test";
import { resolveOutput } from "../../../src/domain/render-output";
import { type EarlyRender, startEarlyRender } from "../../../src/media/early-render";
import { bundledFfmpeg, plainMp4 } from "./generated-media";
import { probeFile, toSnappedSegments, withRender } from "./rendering";

setDefaultTimeout(120_000);

const path = await plainMp4();
const probed = await probeFile(path);
const segments = toSnappedSegments(probed, [
  [0.5, 4.7],
  [5.2, 9.1],
]);

function start(request = {}, sourcePath = path) {
  const resolved = resolveOutput(probed, request);
  if (!resolved.ok) throw new Error("not an output of this source");
  return startEarlyRender({ sourcePath, probed, output: resolved.output }, bundledFfmpeg);
}

const render = (early?: EarlyRender) =>
  withRender({ path, probed, segments, ...(early && { early }) }, async (rendered) => ({
    strategy: rendered.result.strategy,
    bytes: Buffer.from(await Bun.file(rendered.path).arrayBuffer()),
  }));

test("a render takes what was started early, and writes the same file", async () => {
  const early = start();
  const [expected, rendered] = [await render(), await render(early)];
  expect(rendered.strategy).toBe("smart");
  expect(rendered.bytes.equals(expected.bytes)).toBe(true);
  expect(await early.takeSource()).toBeNull();
  expect(early.takeDecoder({ sampleRate: 48_000, channels: 2 })).toBeNull();
});

test("a decoder is for its format only, and starts at the first sample", async () => {
  const early = start({ format: "mp3" });
  expect(await early.takeSource()).toBeNull();
  const { sampleRate } = probed.info.audio[0]!;
  const channels = Math.min(2, probed.info.audio[0]!.channels);
  expect(early.takeDecoder({ sampleRate: 22_050, channels })).toBeNull();
  const decoder = early.takeDecoder({ sampleRate, channels })!;
  let bytes = 0;
  for await (const chunk of decoder.stdout) bytes += chunk.length;
  expect((await decoder.outcome).ok).toBe(true);
  expect(bytes / 4 / channels / sampleRate).toBeCloseTo(probed.info.duration / 1e6, 1);
});

test("a source that cannot be opened in advance is opened by the render", async () => {
  const early = start({}, `${path}.missing`);
  expect(await early.takeSource()).toBeNull();
  const rendered = await render({ ...start({}, `${path}.missing`), takeDecoder: () => null });
  expect(rendered.strategy).toBe("smart");
});
