/** A recording with two cuts, one with takes and one with spans to review, for tests of the asset page. */
import type { Client } from "../http/client";
import { wav } from "../http/media";

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
