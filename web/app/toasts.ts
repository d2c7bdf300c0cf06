/** Short messages about what has happened, with an action such as "Undo". */
import { signal } from "@preact/signals";
import { needsCredits, toMessage } from "./api";

export type Toast = {
  id: number;
  text: string;
  kind: "info" | "bad";
  action?: { label: string; run(): void };
  link?: { label: string; href: string };
};

export const toasts = signal<Toast[]>([]);
let lastId = 0;

const SHOWN_MS = 6_000;

/** Shows a message. An error stays until it is dismissed. */
export function showToast(toast: Omit<Toast, "id">): void {
  lastId++;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-3), { ...toast, id }];
  if (toast.kind === "info") setTimeout(() => dismissToast(id), SHOWN_MS);
}

/** Shows why a call failed. */
export function showFailure(error: unknown): void {
  const text = toMessage(error);
  showToast(
    needsCredits(error)
      ? { kind: "bad", text, link: { label: "Open credits", href: "/credits" } }
      : { kind: "bad", text },
  );
}

export function dismissToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
