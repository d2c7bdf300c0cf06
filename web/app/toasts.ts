/** Short messages about completed or failed actions, with an optional action such as "Undo". */
import { signal } from "@preact/signals";
import { isLoadFailure, needsCredits, toMessage } from "./api";

export type Toast = {
  id: number;
  text: string;
  kind: "info" | "bad";
  /** `keys` is shown beside the label. */
  action?: { label: string; keys?: string; run(): void } | undefined;
  link?: { label: string; href: string } | undefined;
};

export const toasts = signal<Toast[]>([]);
let lastId = 0;

/** Place of messages: the corner of the window, or the result line of the editor, one at a time. */
export const toastPlace = signal<"corner" | "pill">("corner");

const SHOWN_MS = 6_000;

const timers = new Map<number, ReturnType<typeof setTimeout>>();

/** Shows a message. An error stays until it is dismissed. */
export function showToast(toast: Omit<Toast, "id">): void {
  lastId++;
  const shown = { ...toast, id: lastId };
  // In the editor, a message replaces the previous one, unless it was an error.
  const kept = toastPlace.value === "pill" ? toasts.value.filter(({ kind }) => kind === "bad") : toasts.value;
  toasts.value = [...kept.slice(-3), shown];
  releaseToast(shown);
}

/** Keeps a message open while the pointer or the focus is on it. */
export const holdToast = ({ id }: Toast): void => clearTimeout(timers.get(id));

export function releaseToast({ id, kind }: Toast): void {
  clearTimeout(timers.get(id));
  if (kind === "info")
    timers.set(
      id,
      setTimeout(() => dismissToast(id), SHOWN_MS),
    );
}

/** Shows the error of a failed call. Code that could not be loaded is loaded again only after a reload. */
export function showFailure(error: unknown): void {
  showToast({
    kind: "bad",
    text: toMessage(error),
    link: needsCredits(error) ? { label: "Open credits", href: "/credits" } : undefined,
    action: isLoadFailure(error) ? { label: "Reload", run: () => location.reload() } : undefined,
  });
}

export function dismissToast(id: number): void {
  timers.delete(id);
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
