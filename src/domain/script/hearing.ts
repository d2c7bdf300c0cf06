/** What planning with a script works on. */

import type { HeardWord } from "../cut/heard";
import type { Sound } from "../cut/sound";
import type { PlanContext } from "../cut/steps";
import type { Transcript, Word } from "../speech";
import type { ScriptLine } from "./text";

export type ScriptContext = PlanContext & { lines: ScriptLine[]; transcript: Transcript };

/** The recording's words in order and in normal form, its sound, and the script's lines. */
export type Hearing = { words: Word[]; heard: HeardWord[]; sound: Sound; lines: ScriptLine[] };
