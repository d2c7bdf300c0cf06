/** Merges two edits of a cut that started from the same one. */
import type { Span } from "./time";

/** A corrected text. */
type Text = Span & { text: string };

/** Kept spans and corrected texts of an edit, both sorted and disjoint. */
export type Edit = { kept: readonly Span[]; texts: readonly Text[] };

/** A span that an edit keeps or removes, unlike the one before it. */
export type KeptChange = Span & { isKept: boolean };
/** A span with all its corrected texts: an edit has these in place of those before it. */
export type TextChange = Span & { texts: readonly Text[] };
export type Changes = { kept: readonly KeptChange[]; texts: readonly TextChange[] };

/**
 * `free`: the changes of `theirs` to apply to `mine`, and `count`, how many edits they are. `asked`: their changes that
 * remain after that, in the places where both edits changed the same in different ways. `places`: these places, by
 * kind.
 */
export type Merge = {
  merged: Edit;
  free: Changes;
  count: number;
  asked: Changes;
  places: { kept: Span[]; texts: Span[] };
};

export const countChanges = ({ kept, texts }: Changes): number => kept.length + texts.length;

/**
 * Returns the spans that only one of two lists of kept spans has, in order. `isKept` says whether that is the second
 * one.
 */
export function compareKept(before: readonly Span[], after: readonly Span[]): KeptChange[] {
  const times = [...new Set([...before, ...after].flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
  const wasKept = createLookup(before);
  const isKept = createLookup(after);
  const changes: KeptChange[] = [];
  for (const [index, start] of times.entries()) {
    const end = times[index + 1];
    const kept = isKept(start);
    if (end === undefined || wasKept(start) === kept) continue;
    const last = changes.at(-1);
    if (last?.end === start && last.isKept === kept) last.end = end;
    else changes.push({ start, end, isKept: kept });
  }
  return changes;
}

/**
 * Returns a function that returns whether a time is in one of the spans. Each call needs a later time than the one
 * before.
 */
function createLookup(spans: readonly Span[]): (time: number) => boolean {
  let next = 0;
  return (time) => {
    while (next < spans.length && spans[next]!.end <= time) next++;
    return next < spans.length && spans[next]!.start <= time;
  };
}

const isSameText = (a: Text, b: Text): boolean => a.start === b.start && a.end === b.end && a.text === b.text;
const overlaps = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end;
const contains = (a: Span, b: Span): boolean => a.start <= b.start && a.end >= b.end;
const byStart = (a: Span, b: Span): number => a.start - b.start || a.end - b.end;

function join(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const { start, end } of spans.toSorted(byStart)) {
    const last = joined.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

const findTexts = (texts: readonly Text[], span: Span): Text[] => texts.filter((text) => overlaps(text, span));

function compareTexts(before: readonly Text[], after: readonly Text[]): TextChange[] {
  const isIn = (texts: readonly Text[]) => (text: Text) => texts.some((other) => isSameText(other, text));
  const [wasThere, isThere] = [isIn(before), isIn(after)];
  const changed = join([...before.filter((text) => !isThere(text)), ...after.filter((text) => !wasThere(text))]);
  return changed.map((span) => ({ ...span, texts: findTexts(after, span) }));
}

export const listChanges = (before: Edit, after: Edit): Changes => ({
  kept: compareKept(before.kept, after.kept),
  texts: compareTexts(before.texts, after.texts),
});

/**
 * One edit by a user. Its parts are separate where nothing was left to change between them, such as a pause between
 * removed words that was already removed.
 */
type Group = Span & { parts: readonly KeptChange[] };

function groupChanges(changes: readonly KeptChange[], before: readonly Span[]): Group[] {
  const groups: Group[] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    const gap = last && { start: last.end, end: change.start };
    const isJoined =
      gap !== undefined &&
      last?.parts[0]?.isKept === change.isKept &&
      (change.isKept
        ? before.some((span) => contains(span, gap))
        : !before.some((span) => overlaps(span, gap) && gap.end > gap.start));
    if (last && isJoined) groups[groups.length - 1] = { ...last, end: change.end, parts: [...last.parts, change] };
    else groups.push({ start: change.start, end: change.end, parts: [change] });
  }
  return groups;
}

/**
 * Returns the pairs that are contested. Edits with a common part agree about it, because the first edit was the same.
 * If each has a part of its own, such as two removed words with the pause between them, both are applied. If one
 * contains the other, as after two moves of an edge, the intention of one is lost.
 */
function findContested(mine: readonly Group[], theirs: readonly Group[]): [Group, Group][] {
  const pairs: [Group, Group][] = [];
  let first = 0;
  for (const one of theirs) {
    while (first < mine.length && mine[first]!.end <= one.start) first++;
    for (let index = first; index < mine.length && mine[index]!.start < one.end; index++) {
      const other = mine[index]!;
      const isEqual = JSON.stringify(other) === JSON.stringify(one);
      if (!isEqual && (contains(one, other) || contains(other, one))) pairs.push([one, other]);
    }
  }
  return pairs;
}

/** Returns the places, joined, with all groups that reach into one: a place has the edits of one side only. */
function extendOver(places: readonly Span[], groups: readonly Group[]): Span[] {
  const joined = join(places);
  const touching = groups.filter(
    (one) => joined.some((place) => overlaps(place, one)) && !joined.some((place) => contains(place, one)),
  );
  return touching.length === 0 ? joined : extendOver([...joined, ...touching], groups);
}

const isEqualChange = (a: TextChange, b: TextChange): boolean =>
  a.start === b.start && a.end === b.end && JSON.stringify(a.texts) === JSON.stringify(b.texts);

/** Merges `theirs` into `mine`. In the places where both differ, `merged` is as in `mine`. */
export function mergeEdits(base: Edit, mine: Edit, theirs: Edit): Merge {
  const [own, other] = [listChanges(base, mine), listChanges(base, theirs)];
  const [ownGroups, groups] = [groupChanges(own.kept, base.kept), groupChanges(other.kept, base.kept)];
  const keptPlaces = extendOver(findContested(ownGroups, groups).flat(), [...ownGroups, ...groups]);
  const contestedTexts = other.texts.flatMap((one) =>
    own.texts.filter((text) => overlaps(text, one) && !isEqualChange(text, one)).map((text) => [one, text] as const),
  );
  const askedTexts = new Set<Span>(contestedTexts.flat());
  const freeGroups = groups.filter((one) => !keptPlaces.some((place) => overlaps(place, one)));
  const free: Changes = {
    kept: freeGroups.flatMap(({ parts }) => parts),
    texts: other.texts.filter((one) => !askedTexts.has(one) && !own.texts.some((text) => isEqualChange(text, one))),
  };
  const merged = applyChanges(mine, free);
  const places = { kept: keptPlaces, texts: join([...askedTexts]) };
  const count = freeGroups.length + free.texts.length;
  return { merged, free, count, asked: listPlaceChanges(merged, theirs, places), places };
}

/** Returns the changes that lead from one edit to another in these places. */
export function listPlaceChanges(before: Edit, after: Edit, places: Merge["places"]): Changes {
  return {
    kept: compareKept(before.kept, after.kept).flatMap((one) =>
      places.kept
        .filter((place) => overlaps(place, one))
        .map((place) => ({ ...one, start: Math.max(one.start, place.start), end: Math.min(one.end, place.end) })),
    ),
    texts: places.texts.map((place) => ({ ...place, texts: findTexts(after.texts, place) })),
  };
}

export const applyChanges = (edit: Edit, { kept, texts }: Changes): Edit => ({
  kept: kept.length === 0 ? edit.kept : applyKept(edit.kept, kept),
  texts: applyTexts(edit.texts, texts),
});

function applyKept(spans: readonly Span[], changes: readonly KeptChange[]): Span[] {
  const sorted = changes.toSorted(byStart);
  const times = [...spans, ...sorted].flatMap(({ start, end }) => [start, end]);
  const wasKept = createLookup(spans);
  let next = 0;
  const result: Span[] = [];
  const bounds = [...new Set(times)].sort((a, b) => a - b);
  for (const [index, start] of bounds.entries()) {
    const end = bounds[index + 1];
    if (end === undefined) break;
    while (next < sorted.length && sorted[next]!.end <= start) next++;
    const change = sorted[next];
    const isKept = wasKept(start);
    if (!(change !== undefined && change.start <= start ? change.isKept : isKept)) continue;
    const last = result.at(-1);
    if (last?.end === start) last.end = end;
    else result.push({ start, end });
  }
  return result;
}

/** Puts the texts of the changes in place of those that they overlap. */
export function applyTexts<One extends Text>(texts: readonly One[], changes: readonly TextChange[]): readonly Text[] {
  if (changes.length === 0) return texts;
  const others = texts.filter((text) => !changes.some((change) => overlaps(change, text)));
  return [...others, ...changes.flatMap((change) => change.texts)].sort(byStart);
}
