/**
 * Keeps the account the same in all tabs: they share one session, so signing in or out in one tab affects all of them.
 */
import { effect } from "@preact/signals";
import { loadSession } from "./load-session";
import { forget, listenMemory, recall, remember } from "./memory";
import { me, session } from "./session";

const KEY = "user";

/** Returns whether this browser was signed in when it last knew. */
export const wasSignedIn = (): boolean => recall(KEY) !== null;

/** Keeps the tabs of a browser signed in with the same account. Call it once. Returns a function that stops it. */
export function watchAccount(): () => void {
  const stopStoring = effect(() => {
    const { kind } = session.value;
    if (me.value !== null && recall(KEY) !== me.value.id) remember(KEY, me.value.id);
    if (kind === "signed-out") forget(KEY);
  });
  const stopListening = listenMemory(KEY, (id) => {
    if (me.value === null || id === me.value.id) return;
    // The page shows the previous user's data, but its calls would be made as the new user.
    if (id !== null) location.reload();
    else void loadSession();
  });
  return () => {
    stopStoring();
    stopListening();
  };
}
