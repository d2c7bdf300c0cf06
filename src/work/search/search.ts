/** Search in the transcripts of a workspace. */
import { LINE_SEPARATOR } from "../../domain/search/corrections";
import { findTime } from "../../domain/search/passages";
import {
  findClosest,
  hasTerms,
  parseSearch,
  type SearchQuery,
  type SearchTerm,
  type TextRange,
} from "../../domain/search/query";
import {
  listCorrections,
  MARK_END,
  MARK_START,
  type PassageHit,
  type SearchFilter,
  searchPassages,
} from "../../store/search";
import type { CoreNeeds } from "../needs";

/**
 * `start` and `end`: the first of the words where they are closest together, in milliseconds. `matches` are ranges of
 * characters of `snippet`.
 */
export type SearchHit = Pick<PassageHit, "id" | "asset_id" | "asset_name" | "project_id"> & {
  start: number;
  end: number;
  snippet: string;
  matches: TextRange[];
};

/**
 * Lists the passages that have all words of the text: those of the newest transcripts first, in a recording in the
 * order of time.
 */
export async function searchTranscripts(
  { store }: Pick<CoreNeeds, "store">,
  workspaceId: string,
  text: string,
  filter: SearchFilter,
): Promise<{ rows: SearchHit[]; hasMore: boolean }> {
  const query = parseSearch(text);
  if (query === null) return { rows: [], hasMore: false };
  const rows: SearchHit[] = [];
  let { afterId } = filter;
  for (;;) {
    const page = await searchPassages(store.read, workspaceId, query, { ...filter, afterId });
    const corrected = page.rows.filter(({ marked }) => marked.includes(LINE_SEPARATOR)).map(({ id }) => id);
    const corrections = await listCorrections(store.read, corrected);
    for (const passage of page.rows) {
      afterId = passage.id;
      const hit = toHit(passage, query, corrections);
      if (hit === null) continue;
      rows.push(hit);
      if (rows.length > filter.limit) return { rows: rows.slice(0, filter.limit), hasMore: true };
    }
    if (!page.hasMore) return { rows, hasMore: false };
  }
}

type Correction = Awaited<ReturnType<typeof listCorrections>>[number];

/**
 * Returns the line of a passage that has all terms, with the most matches; if several have as many, the newest of those
 * that were corrected.
 */
function toHit(passage: PassageHit, query: SearchQuery, corrections: readonly Correction[]): SearchHit | null {
  const { id, asset_id, asset_name, project_id } = passage;
  const places = new Map(corrections.filter((one) => one.passage_id === id).map((one) => [one.text, one]));
  const [recognized = "", ...corrected] = passage.marked.split(LINE_SEPARATOR);
  let best: SearchHit | null = null;
  for (const [n, line] of [recognized, ...corrected.reverse()].entries()) {
    const marks = readMarks(line);
    const place = n === 0 ? passage : places.get(marks.text);
    const snippet = marks.text.trimEnd();
    if (corrected.length > 0 && !hasTerms(snippet, query)) continue;
    const found = query.index === "trigrams" ? findTerms(snippet, query.terms) : [];
    const matches = found.length > 0 ? found : marks.matches;
    const [first] = matches;
    // Null if all matches are in words that the next passage has too.
    if (place === undefined || first === undefined || first[0] >= place.own_length) continue;
    if (matches.length < (best?.matches.length ?? 0)) continue;
    const match = matches[findClosest(snippet, matches, query)]!;
    const time = findTime({ start: place.start, end: passage.end, words: place.words }, match);
    best = { id, asset_id, asset_name, project_id, ...time, snippet, matches };
  }
  return best;
}

function readMarks(marked: string): { text: string; matches: TextRange[] } {
  const matches: TextRange[] = [];
  let text = "";
  for (const [n, part] of marked.split(MARK_START).entries()) {
    const [matched = "", rest = ""] = n === 0 ? ["", part] : part.split(MARK_END);
    if (n > 0) matches.push([text.length, text.length + matched.length]);
    text += matched + rest;
  }
  return { text, matches };
}

/**
 * Returns where the terms are in a text. A mark of the index covers at least three characters, more than a short term
 * has.
 */
function findTerms(text: string, terms: readonly SearchTerm[]): TextRange[] {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [];
  const found: TextRange[] = [];
  for (const term of terms.map((each) => each.text.toLowerCase()))
    for (let at = lower.indexOf(term); at !== -1; at = lower.indexOf(term, at + term.length))
      found.push([at, at + term.length]);
  return found.sort((a, b) => a[0] - b[0]);
}
