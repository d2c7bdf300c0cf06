import { useRef } from "preact/hooks";

/** Minimum movement of a swipe in pixels. A shorter touch presses the element under it. */
const MIN_MOVE = 10;
/** A touch that moves farther than this decides. */
const MIN_SWIPE = 80;

type Touch = { id: number; x: number; y: number; isSwipe: boolean };

/** Returns the handlers of an element that moves along with a finger. `onSwipe` gets whether it went to the right. */
export function useSwipe(onSwipe: ((isRight: boolean) => void) | null) {
  const touch = useRef<Touch | null>(null);
  if (onSwipe === null) return {};
  const show = (element: HTMLElement, by: number) => {
    element.style.translate = by === 0 ? "" : `${by}px 0`;
    if (Math.abs(by) < MIN_SWIPE) delete element.dataset.swipe;
    else element.dataset.swipe = by > 0 ? "keep" : "remove";
  };
  const end = (event: PointerEvent) => {
    const held = touch.current;
    if (held?.id !== event.pointerId) return;
    touch.current = null;
    show(event.currentTarget as HTMLElement, 0);
    const by = event.clientX - held.x;
    if (held.isSwipe && event.type === "pointerup" && Math.abs(by) >= MIN_SWIPE) onSwipe(by > 0);
  };
  return {
    onPointerDown: ({ pointerType, isPrimary, pointerId, clientX, clientY }: PointerEvent) => {
      if (pointerType === "touch" && isPrimary)
        touch.current = { id: pointerId, x: clientX, y: clientY, isSwipe: false };
    },
    onPointerMove: (event: PointerEvent) => {
      const held = touch.current;
      if (held?.id !== event.pointerId) return;
      const element = event.currentTarget as HTMLElement;
      const [x, y] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.isSwipe && Math.hypot(x, y) >= MIN_MOVE) {
        // A finger that goes up or down scrolls.
        if (Math.abs(y) > Math.abs(x)) touch.current = null;
        else {
          held.isSwipe = true;
          // The buttons on the way are not pressed.
          element.setPointerCapture(event.pointerId);
        }
      }
      if (held.isSwipe) show(element, x);
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}
