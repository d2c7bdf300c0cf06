/** What planning with a script works on. */

import type { Transcript, Word } from "../../speech";
import type { AudioActivity } from "../audio-activity";
import type { PlanContext } from "../context";
import type { Token } from "../tokens";
import type { ScriptLine } from "./script-lines";

export type ScriptedContext = PlanContext & { lines: ScriptLine[]; transcript: Transcript };

/** The recording's words in order and in normal form, its sound, and the script's lines. */
export type ScriptedInput = { words: Word[]; tokens: Token[]; activity: AudioActivity; lines: ScriptLine[] };
