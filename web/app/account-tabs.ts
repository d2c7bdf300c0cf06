/** The tabs of a browser share one session: a user who signs in or out in one does so in all. */
import { effect } from "@preact/signals";
import { loadSession } from "./load-session";
import { forget, listenMemory, recall, remember } from "./memory";
import { me, session } from "./session";

const KEY = "user";

/** Keeps the tabs of a browser signed in with the same account. To be called once. Returns a function that stops it. */
export function watchAccount(): () => void {
  const stopStoring = effect(() => {
    const { kind } = session.value;
    if (me.value !== null && recall(KEY) !== me.value.id) remember(KEY, me.value.id);
    if (kind === "signed-out") forget(KEY);
  });
  const stopListening = listenMemory(KEY, (id) => {
    if (me.value === null || id === me.value.id) return;
    // The page shows data of one user, and its calls would be those of another one.
    if (id !== null) location.reload();
    else void loadSession();
  });
  return () => {
    stopStoring();
    stopListening();
  };
}
