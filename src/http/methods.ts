/** Returns whether a method only reads. */
export const isReadMethod = (method: string): boolean => method === "GET" || method === "HEAD";
