/** What planning with a script works on. */

import type { Transcript, Word } from "../../speech";
import type { Sound } from "../audio-activity";
import type { PlanContext } from "../context";
import type { HeardWord } from "../tokens";
import type { ScriptLine } from "./script-lines";

export type ScriptContext = PlanContext & { lines: ScriptLine[]; transcript: Transcript };

/** The recording's words in order and in normal form, its sound, and the script's lines. */
export type Hearing = { words: Word[]; heard: HeardWord[]; sound: Sound; lines: ScriptLine[] };
