/** A recording with two cuts, one with takes and one with spans to review, for tests of the asset page. */
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import type { Dashboard } from "./dashboard";

/**
 * The recognizer of the tests recognizes 13 words in this recording: "alpha" to "juliett", then "alpha" to "charlie".
 */
const SECONDS = 26;

/** The second line has two takes. */
export const SCRIPT = "Alpha bravo charlie.\n\nDelta echo foxtrot golf zulu.\n\nAlpha bravo.";

export type StudioAsset = { id: string; reviewCutId: string; takesCutId: string };

/** Prepares the recording and makes its cuts; the one with takes is the newest, so it is the one that opens. */
export async function createStudioAsset(user: Client, filename = "Talk.wav"): Promise<StudioAsset> {
  const { id } = await user.ready(await wav(SECONDS), { filename });
  const make = async (script: string) => {
    const cut = await user.cutEnded((await user.startCut({ asset_id: id, script })).id);
    if (cut.state !== "completed") throw new Error(`cut is ${cut.state}`);
    return cut.id;
  };
  return { id, reviewCutId: await make(""), takesCutId: await make(SCRIPT) };
}

/** Opens the editor of a new recording, with the cut with takes, by default in a window of the usual size. */
export async function openStudio(
  { expectFailures, open, server }: Dashboard,
  options: BrowserContextOptions = {},
): Promise<Page> {
  // A busy server may refuse playback that is stopped immediately.
  expectFailures(503);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user, {
    viewport: { width: 1360, height: 850 },
    ...options,
  });
  await page.locator(".transport .play-button:enabled").waitFor();
  return page;
}
