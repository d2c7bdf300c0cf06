/** Clean audio of the player in any browser: no gap at the switch, and the levels of a render. */
import { expect } from "bun:test";
import { fromSeconds } from "../../web/editor/model/plan";
import type { Client } from "../http/client";
import { until } from "../until";
import { createNoisyTalk, findOffset } from "./noisy-talk";
import { readSamples } from "./player-media";
import type { PlayerHarness, Setup } from "./player-page";

declare const harness: PlayerHarness;

/** The part of a browser's page that both drivers have. */
export type DrivenPage = {
  goto(url: string): Promise<unknown>;
  evaluate<Argument, Result>(
    work: (argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
};

export type CleanAudioCheck = { page: DrivenPage; user: Client; setup: Setup; address: string };

/** Turns on clean audio while the player plays, and compares the output with the recording and with a render of it. */
export async function checkCleanAudio({ page, user, setup, address }: CleanAudioCheck): Promise<void> {
  const talk = createNoisyTalk();
  const asset = await user.ready(talk, { filename: "noisy.wav" });
  const { id } = await user.must<{ id: string }>("POST", "/v1/renders", {
    json: {
      asset_id: asset.id,
      output: { format: "m4a", audio_bitrate: 192_000, audio: { noise_reduction: "strong" } },
    },
  });
  const link = await until("the render", async () => {
    const render = await user.must<{ state: string; download_url: string | null }>("GET", `/v1/renders/${id}`);
    return render.state === "completed" ? render.download_url : null;
  });
  const rendered = await readSamples("render.m4a", new Uint8Array(await (await fetch(link)).arrayBuffer()));
  const original = await readSamples("noisy.wav", talk);
  const audio = { ...setup, piecesUrl: `/api/v1/assets/${asset.id}/pieces`, videoType: null, duration: fromSeconds(8) };
  const { webm, stalls, times } = await playAndRecord(page, address, audio);
  expect(stalls).toBe(0);
  expect(times.every((time, n) => time >= (times[n - 1] ?? 0))).toBe(true);
  const heard = await readSamples("heard.webm", Buffer.from(webm, "base64"));
  const RATE = 48_000;
  const getLevel = (samples: Float32Array, from: number, to: number) => {
    const part = samples.subarray(Math.round(from * RATE), Math.round(to * RATE));
    return 10 * Math.log10(part.reduce((sum, sample) => sum + sample ** 2, 0) / part.length + 1e-12);
  };
  // The recording starts a little before or after the first sample.
  const offset = findOffset(original, heard, RATE);
  expect(Math.abs(getLevel(heard, 0.2 + offset, 0.9 + offset) - getLevel(original, 0.2, 0.9))).toBeLessThan(1);
  for (const from of [4, 4.5, 5, 5.5, 6]) {
    expect(
      Math.abs(getLevel(heard, from + offset, from + 1 + offset) - getLevel(rendered, from, from + 1)),
    ).toBeLessThan(1);
    expect(getLevel(heard, from + offset, from + 0.05 + offset)).toBeGreaterThan(-100);
  }
  // In the pauses between the sentences, there is as little noise as in the render.
  const windows = Array.from({ length: 56 }, (_, n) => 4.1 + n / 20);
  const isQuiet = (from: number) => getLevel(rendered, from, from + 0.1) < getLevel(original, from, from + 0.1) - 8;
  // A busy browser records a few milliseconds less than it plays: speech beside a window must not be audible in it.
  const pauses = windows.filter((from) => isQuiet(from - 0.1) && isQuiet(from) && isQuiet(from + 0.1));
  expect(pauses.length).toBeGreaterThan(2);
  const getPauseLevel = (samples: Float32Array, shift: number) =>
    pauses.reduce((sum, from) => sum + getLevel(samples, from + shift, from + 0.1 + shift), 0) / pauses.length;
  expect(getPauseLevel(heard, offset)).toBeLessThan(getPauseLevel(original, 0) - 6);
  // No sample is missing around the switch.
  const silent = Array.from({ length: 120 }, (_, n) => getLevel(heard, 1 + n / 40 + offset, 1 + (n + 1) / 40 + offset));
  expect(silent.filter((level) => level < -85)).toEqual([]);
}

const MAX_TRIES = 3;

/**
 * Plays the recording, with clean audio after a second. A browser sometimes records nothing of a page, although it
 * plays: the page is opened again then.
 */
async function playAndRecord(page: DrivenPage, address: string, audio: Setup) {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    await page.goto(address);
    const played = await page.evaluate(async (audio) => {
      harness.open(audio, [{ start: 0, end: audio.duration }]);
      await harness.settled();
      harness.record();
      harness.stalls.length = 0;
      harness.player.play();
      const times: number[] = [];
      const pass = (time: number) =>
        new Promise<void>((resolve) => {
          const stop = harness.player.sourceTime.subscribe((now) => {
            times.push(now);
            if (now < time * 1e6) return;
            setTimeout(() => stop());
            resolve();
          });
        });
      await pass(1);
      if (!(await harness.isRecording())) return null;
      harness.player.setClean("strong");
      await pass(7.5);
      return { webm: await harness.stopRecording(), stalls: harness.stalls.length, times };
    }, audio);
    if (played !== null) return played;
  }
  throw new Error(`The browser recorded nothing of ${MAX_TRIES} pages.`);
}
