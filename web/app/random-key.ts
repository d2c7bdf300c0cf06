/** Returns 32 random hexadecimal digits. `crypto.randomUUID` does not exist over plain HTTP. */
export const randomKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
