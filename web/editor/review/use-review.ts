/** The review of the open cut, and its actions. */
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Action, createInGroup, useActions } from "../../app/actions";
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
    () => (review === null ? [] : listActions(review, { editor, playback, canEdit })),
    [review, editor, playback, canEdit],
  );
}

type ActionParts = Pick<Parts, "editor" | "playback" | "canEdit">;

const inReview = createInGroup("Review");

function listActions(review: ReviewSession, { editor, playback, canEdit }: ActionParts): Action[] {
  const whenCard = { isEnabled: () => review.isReviewing.value && review.current.value !== null };
  /** The place of the selected words. */
  const findHere = () => {
    const range = editor.range.value;
    const items = review.keeper.items.value ?? [];
    return range === null ? undefined : items.find(({ start, end }) => start < range.end && end > range.start);
  };
  return [
    inReview("review.here", "Review this place", [], () => review.start(findHere()), {
      isEnabled: () => findHere() !== undefined,
    }),
    inReview("review.start", "Review", [], () => review.start(), { icon: "flag" }),
    inReview("review.next", "Review, or skip to the next place", ["n"], () => review.step(1), {
      describe: () => "Next",
      icon: "down",
    }),
    inReview("review.previous", "Previous place", ["Shift+n"], () => review.step(-1), {
      describe: () => "Previous",
      icon: "up",
    }),
    ...(canEdit
      ? [
          inReview("review.keep", "Keep", ["Enter"], () => review.decide("kept"), whenCard),
          inReview("review.remove", "Remove", ["Backspace", "Delete"], () => review.decide("removed"), whenCard),
        ]
      : []),
    inReview("review.again", "Play again", ["Space"], () => review.toggle(), {
      ...whenCard,
      describe: () => (playback.isPlaying.value ? "Pause" : "Play again"),
    }),
    inReview("review.other", "With it or without it", ["c"], () => review.play(!review.isWithout.peek()), whenCard),
    inReview("review.close", "Leave the review", ["Escape"], () => review.close(), {
      // The selection and the filter are left first.
      isEnabled: () => review.isReviewing.value && editor.range.value === null && editor.filter.value === null,
    }),
  ];
}
