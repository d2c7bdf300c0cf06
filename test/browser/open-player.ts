/** The player alone on a page of a real server, with a recording whose frames and samples can be recognized. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { fromSeconds, type Range } from "../../web/editor/model/plan";
import { shareChromium } from "../chromium";
import { isFullSize } from "../full-size";
import { startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { harness as startHarness } from "../http/harness";
import { until } from "../until";
import { FRAME_RATE, numberedRecording } from "./player-media";
import type { PlayerHarness, Setup } from "./player-page";

declare const harness: PlayerHarness;

const HOST = "studio.test";
/** For a machine that is many times slower. */
const ACTION_MS = 90_000;
type AssetMedia = {
  video_type: string | null;
  audio_type: string | null;
  duration: number;
  frame_rate: { num: number; den: number } | null;
  is_preview_ready: boolean;
};

/** The last one allows playback without a click. */
const FLAGS = [`--host-resolver-rules=MAP ${HOST} 127.0.0.1`, "--autoplay-policy=no-user-gesture-required"];

export type OpenPlayer = AsyncDisposable & {
  page: Page;
  /** The owner of the recording. */
  user: Client;
  setup: Setup;
  /** Problems reported by the console and the page. */
  problems: string[];
  /** The file of the preview. */
  preview: Uint8Array;
  address: string;
  /** Opens a page of its own, without going to the address. */
  openPage(): Promise<Page>;
  /** Loads the page again, with a player of this plan that can play. */
  open(kept: readonly Range[]): Promise<void>;
};

/**
 * Starts a server with the preview of a recording of this length, and a browser; `isWhole` as for `shareChromium`,
 * `rate` in frames per second.
 */
export async function openPlayer(
  seconds: number,
  size = "960:540",
  isWhole = isFullSize,
  rate = String(FRAME_RATE),
): Promise<OpenPlayer> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startHarness());
  const user = await server.user();
  const session = await startSession(server, user);
  const asset = await user.ready(await numberedRecording(seconds, size, rate), { filename: "talk.mp4" });
  const base = `/api/v1/assets/${asset.id}`;
  const media = await until(
    "the preview",
    async () => {
      const state = await session.must<AssetMedia>("GET", `${base}/media`);
      return state.is_preview_ready ? state : null;
    },
    400,
  );
  const preview = new Uint8Array(
    await (
      await fetch(`${server.url()}${base}/preview`, { headers: { Authorization: `Bearer ${session.key}` } })
    ).arrayBuffer(),
  );

  const context = await (await shareChromium(FLAGS, isWhole)).newContext();
  stack.defer(() => context.close());
  context.setDefaultTimeout(ACTION_MS);
  await context.addCookies([{ name: "service_session", value: session.key, domain: HOST, path: "/", httpOnly: true }]);
  const problems: string[] = [];
  const built = await Bun.build({ entrypoints: [join(import.meta.dir, "player-page.ts")], target: "browser" });
  const script = await built.outputs[0]!.text();
  // Replaces the application's script, so that the page comes from the server with its policy.
  await context.route(/\/app\/main-[^/]*\.js$/, (route) =>
    route.fulfill({ contentType: "text/javascript", body: script }),
  );

  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });

  // A page that names nothing that the application reads first: the player alone does not read it.
  const address = `http://${HOST}:${new URL(server.url()).port}/sign-in`;
  const setup: Setup = {
    piecesUrl: `${base}/pieces`,
    previewUrl: `${base}/preview`,
    videoType: media.video_type,
    audioType: media.audio_type,
    frameRate: media.frame_rate === null ? null : media.frame_rate.num / media.frame_rate.den,
    duration: fromSeconds(media.duration),
  };
  const resources = stack.move();
  return {
    page,
    user,
    setup,
    problems,
    preview,
    address,
    openPage: () => context.newPage(),
    open: async (kept) => {
      await page.goto(address);
      await page.evaluate(
        async ([setup, kept]) => {
          harness.open(setup, [...kept]);
          await harness.settled();
        },
        [setup, kept] as const,
      );
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
