/** Tracks whether the server responds. */
import { signal } from "@preact/signals";

export type Connection = "online" | "reconnecting";

export const connection = signal<Connection>("online");

/** Call this when the server has responded to a request or sent an event. */
export function reportAnswer(): void {
  connection.value = "online";
}

/** Call this when a request got no response, or the event stream ended. */
export function reportNoAnswer(): void {
  connection.value = "reconnecting";
}

/** Calls `run` each time the server responds again. Returns a function that stops it. */
export function listenReconnect(run: () => void): () => void {
  let before = connection.peek();
  return connection.subscribe((now) => {
    if (now !== before && now === "online") run();
    before = now;
  });
}

/** Loads the images of the page again that are missing since a request got no response. */
export function reloadImages(): void {
  for (const image of document.images) {
    const { src } = image;
    if (src !== "" && image.complete && image.naturalWidth === 0) image.src = src;
  }
}

const RETRY_MS = 3_000;

/** Checks whether the server responds, and returns the result. */
export async function checkConnection(): Promise<boolean> {
  const isThere = await fetch("/healthz", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
  connection.value = isThere ? "online" : "reconnecting";
  return isThere;
}

/** Polls the server until it responds. Returns a function that stops it. */
export function watchConnection(): () => void {
  const timer = setInterval(() => void (connection.value !== "online" && checkConnection()), RETRY_MS);
  addEventListener("online", checkConnection);
  addEventListener("offline", reportNoAnswer);
  return () => {
    clearInterval(timer);
    removeEventListener("online", checkConnection);
    removeEventListener("offline", reportNoAnswer);
  };
}
