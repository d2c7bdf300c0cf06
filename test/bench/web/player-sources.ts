/**
 * Measures how the player plays twelve kinds of source before and after their previews are ready: `bun
 * test/bench/web/player.ts kinds [firefox]`. Prints a table: the time from the words to the first frame, errors of
 * sound and holds of the picture at joins, times of seeks and of an edit.
 */
import { join } from "node:path";
import { startPreview } from "../../../src/work/previews/start-preview";
import { fromSeconds, type Range, toSeconds } from "../../../web/editor/model/plan";
import type { SourceTrack } from "../../../web/editor/player/media-source";
import type { DrivenPage } from "../../browser/clean-audio-check";
import { openFirefoxPlayer } from "../../browser/firefox-player";
import { compareAudio, FRAME_RATE, listFrames, readSamples } from "../../browser/player-media";
import type { PlayerHarness, Setup } from "../../browser/player-page";
import { launchChromium } from "../../chromium";
import { startSession } from "../../http/accounts";
import { harness as startHarness } from "../../http/harness";
import { until } from "../../until";
import { KINDS, type Kind, SECONDS } from "./player-kinds";

declare const harness: PlayerHarness;

const HOST = "studio.test";
/** In seconds, on frames: most starts are inside a group of pictures. */
const SPANS = [
  [1.2, 3],
  [4.28, 5.6],
  [7, 7.8],
  [9.44, 10.64],
  [14.52, 15.6],
  [17.8, 19],
] as const;
const KEPT: Range[] = SPANS.map(([start, end]) => ({ start: fromSeconds(start), end: fromSeconds(end) }));
const SEEKS = 6;
const MAX_PLAYING_MS = 45_000;
const AT_END_MS = 100;

type Browser = AsyncDisposable & { page: DrivenPage };

async function openChromium(script: string, cookie: string): Promise<Browser> {
  const flags = [`--host-resolver-rules=MAP ${HOST} 127.0.0.1`, "--autoplay-policy=no-user-gesture-required"];
  const browser = await launchChromium(flags);
  const context = await browser.newContext();
  await context.addCookies([{ name: "service_session", value: cookie, domain: HOST, path: "/", httpOnly: true }]);
  await context.route(/\/app\/main-[^/]*\.js$/, (route) =>
    route.fulfill({ contentType: "text/javascript", body: script }),
  );
  const page = await context.newPage();
  return { page: page as unknown as DrivenPage, [Symbol.asyncDispose]: () => browser.close() };
}

type AssetMedia = {
  video_type: string | null;
  audio_type: string | null;
  duration: number;
  frame_rate: { num: number; den: number } | null;
  is_playable: boolean;
  is_preview_ready: boolean;
  source: {
    video: { type: string; width: number; height: number; bitrate: number | null; starts: number[] } | null;
    audio: { type: string; channels: number; sample_rate: number } | null;
  };
};

/**
 * `holdMs`: how much longer than a frame the last frame before a join was shown. `removed`: frames that the cut does
 * not have.
 */
type Figures = {
  variant: string;
  firstMs: number;
  soundMs: number;
  found: number;
  holdMs: number;
  removed: number;
  stalls: number;
  seekMs: number;
  editMs: number;
};

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Plays the cut, and then seeks and edits. */
async function measure(
  page: DrivenPage,
  {
    address,
    setup,
    tracks,
    kind,
    samples,
  }: {
    address: string;
    setup: Setup;
    tracks: Record<"video" | "audio", SourceTrack | null>;
    kind: Kind;
    samples: Float32Array;
  },
): Promise<Figures> {
  const started = performance.now();
  await page.goto(address);
  const types = await page.evaluate(
    async ([setup, tracks, kept]) => {
      const types = tracks === null ? undefined : await harness.decodable(tracks);
      harness.open({ ...setup, ...(types && { sourceTypes: types }) }, [...kept]);
      await harness.settled();
      return types;
    },
    [setup, setup.sourceTypes === undefined ? null : tracks, KEPT] as const,
  );
  const firstMs = performance.now() - started;
  const playing = page.evaluate(async (hasVideo) => {
    harness.record();
    const from = performance.now();
    harness.player.play();
    await harness.ended();
    const webm = await harness.stopRecording();
    const { shown } = harness;
    // Firefox also reports that it waits just before the end.
    const until = performance.now() - AT_END_MS;
    const stalls = harness.stalls.filter((at) => at > from && at < until).length;
    harness.player.pause();
    const seeks: number[] = [];
    harness.setKept([{ start: 0, end: harness.duration() }]);
    const isShown = async (count: number) => {
      if (!hasVideo) return await harness.settled();
      while (shown.length === count) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    for (const seconds of [20.3, 2.1, 13.7, 22.2, 6.9, 16.4]) {
      const [count, at] = [shown.length, performance.now()];
      harness.player.seek(seconds * 1e6);
      await isShown(count);
      seeks.push(performance.now() - at);
    }
    // An edit under the playhead while it plays.
    harness.player.seek(8e6);
    await harness.settled();
    harness.player.play();
    while (harness.player.sourceTime.value < 9e6) await new Promise((resolve) => setTimeout(resolve, 2));
    const edited = performance.now();
    harness.setKept([
      { start: 0, end: 8.52e6 },
      { start: 12.04e6, end: harness.duration() },
    ]);
    while (harness.player.sourceTime.value < 12.04e6 || harness.video.seeking || harness.video.readyState < 3)
      await new Promise((resolve) => setTimeout(resolve, 2));
    const editMs = performance.now() - edited;
    harness.player.pause();
    return { shown: shown.map(({ frame, at }) => ({ frame, at })), webm, stalls, seeks, editMs, until: edited };
  }, kind.hasVideo);
  const stuck = Bun.sleep(MAX_PLAYING_MS).then(async () => {
    throw new Error(`stuck: ${JSON.stringify(await page.evaluate(() => harness.state(), null))}`);
  });
  const played = await Promise.race([playing, stuck]);
  stuck.catch(() => {});
  const joins = compareAudio(await readSamples("played.webm", Buffer.from(played.webm, "base64")), samples, KEPT);
  const shifts = joins.flatMap(({ shift }) => (shift === null ? [] : [Math.abs(shift) / 48]));
  const expected = listFrames(KEPT);
  const last = expected.at(-1)!;
  const end = played.shown.findIndex(({ frame }) => frame >= last - 1) + 1 || played.shown.length;
  const held = KEPT.map(({ start }) => {
    let n = Math.round(toSeconds(start) * FRAME_RATE) - (kind.isLate ? 1 : 0);
    while (n > 0 && !kind.hasFrame(n)) n--;
    return n;
  });
  const allowed = new Set([...expected, ...held]);
  const frames = kind.hasVideo ? played.shown.slice(0, end) : [];
  const isJoin = (n: number) => expected.indexOf(frames[n]!.frame) >= 0 && frames[n + 1]!.frame - frames[n]!.frame > 8;
  const holds = frames.slice(1).flatMap(({ at }, n) => (isJoin(n) ? [at - frames[n]!.at - 1000 / FRAME_RATE] : []));
  return {
    variant: types === undefined ? "preview" : describeTypes(kind, types),
    firstMs,
    soundMs: Math.max(...shifts),
    found: shifts.length,
    holdMs: Math.max(0, ...holds),
    removed: new Set(frames.filter(({ frame }) => !allowed.has(frame)).map(({ frame }) => frame)).size,
    stalls: played.stalls,
    seekMs: median(played.seeks.slice(0, SEEKS)),
    editMs: played.editMs,
  };
}

const describeTypes = ({ hasVideo }: Kind, { video, audio }: Record<"video" | "audio", string | null>): string => {
  const name = (type: string | null) => (type === null ? "encoded" : "source");
  return hasVideo ? `${name(video)}/${name(audio)}` : name(audio);
};

function print(kind: string, browser: string, figures: Figures): void {
  const { variant, firstMs, soundMs, found, holdMs, removed, stalls, seekMs, editMs } = figures;
  const cells = [
    ...[kind.padEnd(20), browser.padEnd(8), variant.padEnd(15), firstMs.toFixed(0).padStart(6)],
    ...[`${soundMs.toFixed(2)} (${found})`.padStart(10), holdMs.toFixed(0).padStart(5), String(removed).padStart(4)],
    ...[String(stalls).padStart(4), seekMs.toFixed(0).padStart(5), editMs.toFixed(0).padStart(5)],
  ];
  console.log(cells.join(" | "));
}

/** Measures all kinds in one browser. `only`: a pattern of their names. */
export async function measureKinds(browserName: "chromium" | "firefox", only = ""): Promise<void> {
  await using server = await startHarness({ PREVIEWS: "never" });
  const user = await server.user();
  const session = await startSession(server, user);
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../browser/player-page.ts")],
    target: "browser",
  });
  const script = await built.outputs[0]!.text();
  await using browser = await (browserName === "firefox" ? openFirefoxPlayer : openChromium)(script, session.key);
  const { page } = browser;
  const address = `http://${HOST}:${new URL(server.url()).port}/sign-in`;
  console.log(
    "kind | browser | played | first frame ms | sound at joins ms (found of 5) | hold ms | removed frames | stalls | seek ms | edit ms",
  );
  for (const kind of KINDS.filter(({ name }) => new RegExp(only).test(name))) {
    const bytes = await kind.make();
    const samples = await readSamples(kind.filename, bytes);
    const id = await user.upload(bytes, { filename: kind.filename });
    const base = `/api/v1/assets/${id}`;
    await user.prepared(id);
    const readMedia = () => session.must<AssetMedia>("GET", `${base}/media`);
    let media = await until("the words", async () => {
      const found = await readMedia();
      return found.is_playable ? found : null;
    });
    const createSetup = (sourceTypes?: Setup["sourceTypes"]): Setup => ({
      piecesUrl: `${base}/pieces`,
      previewUrl: `${base}/preview`,
      videoType: media.video_type,
      audioType: media.audio_type,
      frameRate: media.frame_rate === null ? null : media.frame_rate.num / media.frame_rate.den,
      duration: fromSeconds(Math.min(SECONDS, media.duration)),
      ...(sourceTypes && { sourceTypes, sourceLines: (media.source.video?.starts ?? []).map(fromSeconds) }),
    });
    const { video, audio } = media.source;
    const tracks = {
      video: video && { type: video.type, video: { ...video, frameRate: FRAME_RATE } },
      audio: audio && { type: audio.type, audio: { channels: audio.channels, sampleRate: audio.sample_rate } },
    };
    const options = { address, tracks, kind, samples };
    try {
      const before = { ...options, setup: createSetup({ video: null, audio: null }) };
      print(kind.name, browserName, await measure(page, before));
      const { services } = server;
      await services().store.write((tx) => startPreview(services(), tx, id, { userId: null, now: Date.now() }));
      services().runner.wake();
      media = await until(
        "the preview",
        async () => {
          const found = await readMedia();
          return found.is_preview_ready ? found : null;
        },
        400,
      );
      print(kind.name, browserName, await measure(page, { ...options, setup: createSetup() }));
    } catch (error) {
      console.log(`${kind.name} | ${browserName} | ${error}`);
    }
  }
}
