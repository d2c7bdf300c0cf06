/** The loudness behind a limiter is predicted, and measured in its output. */
import { expect, test } from "bun:test";
import { FINE_STEPS_PER_SECOND, predictLoudness } from "../../../src/domain/limited-loudness";
import { measureSteps } from "../../../src/domain/loudness";
import { Limiter, RELEASE_SECONDS } from "../../../src/media/audio/limiter";
import { StepMeter } from "../../../src/media/audio/step-meter";
import { openVoice } from "../../fixtures/flite";

const FORMAT = { sampleRate: 16_000, channels: 1, encoding: "f32le" } as const;

const speech = openVoice("rms")("Use two lamps, one on each side, and keep them higher than your eyes.", {
  stretch: 1,
  pitch: 1,
}).samples;

function measure(samples: Float32Array, stepsPerSecond: number) {
  const meter = new StepMeter(FORMAT, stepsPerSecond);
  meter.take(samples);
  return meter.finish();
}

test("fine steps have the loudness of steps of 100 ms", () => {
  const [fine, steps] = [measure(speech, FINE_STEPS_PER_SECOND), measureSteps(measure(speech, 10))];
  const predicted = predictLoudness(fine, null);
  expect(predicted.integrated).toBeCloseTo(steps.integrated!, 2);
  expect(predicted.peak).toBeCloseTo(steps.peak!, 5);
  expect(predictLoudness(measure(new Float32Array(20_000), FINE_STEPS_PER_SECOND), null).integrated).toBeNull();
});

test.each([0, 6])("at a gain of %d dB", (decibels) => {
  const level = { gain: 10 ** (decibels / 20), ceiling: 0.5 };
  const limiter = new Limiter(level, FORMAT);
  const output = Float32Array.from([...limiter.take(speech), ...limiter.finish()]);
  const measured = measureSteps(measure(output, 10)).integrated!;
  const fine = measure(speech, FINE_STEPS_PER_SECOND);
  const predicted = predictLoudness(fine, { ...level, release: RELEASE_SECONDS }).integrated!;
  expect(Math.abs(predicted - measured)).toBeLessThan(0.4);
});
