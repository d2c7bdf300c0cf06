/** Stage 7: returns where the path has the lines, and how well they match there. */
import { measureWordDistance } from "../../text/normalize";
import { findBestAlignment } from "../alignments";
import { type PlanSteps, requestAlignments } from "../context";
import type { Token, TokenRange } from "../tokens";
import { classifyFit, toAlignmentRequests, toLineWindow } from "./line-candidates";
import type { ScriptLine } from "./script-lines";
import type { ScriptedRecording } from "./scripted-recording";

/** A line on the path, from its first to its last matched token. `pairs` are the path's words of the line. */
export type LinePlace = { line: number; place: TokenRange; pairs: Int32Array };

/** Returns the places of the required lines. Their pairs are views of the path's pairs. */
export function listLinePlaces(pairs: Int32Array, lines: readonly ScriptLine[]): LinePlace[] {
  let at = 0;
  return lines.flatMap((line, index) => {
    const own = pairs.subarray(at, at + line.words.length);
    at += line.words.length;
    const said = own.filter((token) => token >= 0);
    if (said.length === 0 || line.optional) return [];
    return [{ line: index, place: { from: said[0]!, to: said.at(-1)! + 1 }, pairs: own }];
  });
}

/** Returns the places in which their lines do not align. */
export function* listMisaligned<Place extends LinePlace>(
  places: readonly Place[],
  { lines, tokens, activity }: ScriptedRecording,
): PlanSteps<Place[]> {
  const requests = places.map(({ line, place }) =>
    toAlignmentRequests(lines[line]!, toLineWindow(place, tokens, activity)),
  );
  const results = yield* requestAlignments(requests.flat());
  let at = 0;
  return places.filter((_, n) => {
    const alignment = findBestAlignment(results.slice(at, at + requests[n]!.length));
    at += requests[n]!.length;
    return !alignment || classifyFit(alignment, activity) === "none";
  });
}

/** Returns the share of a line's words that resemble the tokens in their places. */
export const measureFoundShare = (line: ScriptLine, pairs: Int32Array, tokens: readonly Token[]): number =>
  line.words.filter((word, k) => pairs[k]! >= 0 && measureWordDistance(word, tokens[pairs[k]!]!.normal) < 1).length /
  line.words.length;
