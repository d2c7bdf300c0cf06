/** The data for planning with a script. */

import type { Transcript, Word } from "../../speech";
import type { AudioActivity } from "../audio-activity";
import type { PlanContext } from "../context";
import type { Lexicon } from "../lexicon/lexicon";
import type { Token } from "../tokens";
import type { ScriptLine } from "./script-lines";

export type ScriptedContext = PlanContext & { lines: ScriptLine[]; transcript: Transcript };

/** The transcript's words (sorted) and their tokens, the audio activity, and the lines of the script. */
export type ScriptedRecording = {
  words: Word[];
  tokens: Token[];
  activity: AudioActivity;
  lines: ScriptLine[];
  lexicon: Lexicon;
};
