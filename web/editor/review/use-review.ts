/** The review of the open cut, and its actions. */
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Action, useActions } from "../../app/actions";
import type { EditorContextValue } from "../state/context";
import { createSession, type ReviewSession } from "./review-session";

const session = signal<ReviewSession | null>(null);

/** Returns the review of the open cut; null without a cut. */
export const useReview = (): ReviewSession | null => session.value;

/** Returns the number of places that are worth a listen and not decided. */
export const useReviewCount = (): number => session.value?.open.value ?? 0;

type Parts = Pick<EditorContextValue, "editor" | "playback" | "keeper"> & { canEdit: boolean; onStart(): void };

/** Keeps the review while the editor's page is open. Call it once. */
export function useReviewSession({ editor, playback, keeper, canEdit, onStart }: Parts): void {
  const review = useMemo(
    () => (editor.cut === null ? null : createSession({ editor, playback, draft: keeper, onStart })),
    [editor, playback, keeper],
  );
  useEffect(() => {
    session.value = review;
    return () => {
      review?.stop();
      if (session.peek() === review) session.value = null;
    };
  }, [review]);
  useActions(
    useMemo(
      () => (review === null ? [] : listActions(review, { editor, playback, canEdit })),
      [review, editor, playback, canEdit],
    ),
  );
}

type ActionParts = Pick<Parts, "editor" | "playback" | "canEdit">;

function listActions(review: ReviewSession, { editor, playback, canEdit }: ActionParts): Action[] {
  const hasCard = () => review.isReviewing.value && review.current.value !== null;
  const inReview = (rows: Omit<Action, "group">[]): Action[] => rows.map((row) => ({ ...row, group: "Review" }));
  const decisions: Omit<Action, "group">[] = [
    { name: "review.keep", label: "Keep", keys: ["Enter"], isEnabled: hasCard, perform: () => review.decide("kept") },
    {
      name: "review.remove",
      label: "Remove",
      keys: ["Backspace", "Delete"],
      isEnabled: hasCard,
      perform: () => review.decide("removed"),
    },
  ];
  /** The place of the selected words. */
  const findHere = () => {
    const range = editor.range.value;
    const items = review.keeper.items.value ?? [];
    return range === null ? undefined : items.find(({ start, end }) => start < range.end && end > range.start);
  };
  return inReview([
    {
      name: "review.here",
      label: "Review this place",
      keys: [],
      isEnabled: () => findHere() !== undefined,
      perform: () => review.start(findHere()),
    },
    { name: "review.start", label: "Review", icon: "flag", keys: [], perform: () => review.start() },
    {
      name: "review.next",
      label: "Review, or skip to the next place",
      describe: () => "Next",
      icon: "down",
      keys: ["n"],
      perform: () => review.step(1),
    },
    {
      name: "review.previous",
      label: "Previous place",
      describe: () => "Previous",
      icon: "up",
      keys: ["Shift+n"],
      perform: () => review.step(-1),
    },
    ...(canEdit ? decisions : []),
    {
      name: "review.again",
      label: "Play again",
      describe: () => (playback.isPlaying.value ? "Pause" : "Play again"),
      keys: ["Space"],
      isEnabled: hasCard,
      perform: () => review.toggle(),
    },
    {
      name: "review.other",
      label: "With it or without it",
      keys: ["c"],
      isEnabled: hasCard,
      perform: () => review.play(!review.isWithout.peek()),
    },
    {
      name: "review.close",
      label: "Leave the review",
      keys: ["Escape"],
      // The selection and the filter are left first.
      isEnabled: () => review.isReviewing.value && editor.range.value === null && editor.filter.value === null,
      perform: () => review.close(),
    },
  ]);
}
