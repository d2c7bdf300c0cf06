/**
 * Stores values in the browser between visits. Without storage (private windows, full disks) nothing is stored, and
 * everything still works.
 */

const PREFIX = "offcut.";

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** Stores a value. Returns false if the browser does not store it: an earlier value stays. */
export function remember(key: string, value: string): boolean {
  try {
    localStorage.setItem(PREFIX + key, value);
    return true;
  } catch {
    return false;
  }
}

/** Returns the keys that start with `start`. */
export function listKeys(start: string): string[] {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX + start))
      .map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Stored values are optional.
  }
}

/**
 * Calls the listener when another tab changes the value of a key, with null when the tab removes it. Returns a function
 * that stops it.
 */
export function listenMemory(key: string, listener: (value: string | null) => void): () => void {
  const onStorage = (event: StorageEvent) => {
    if (event.key === PREFIX + key) listener(event.newValue);
  };
  addEventListener("storage", onStorage);
  return () => removeEventListener("storage", onStorage);
}
