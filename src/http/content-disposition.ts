/** Names of downloaded files. */

/** Formats `Content-Disposition` (RFC 6266): an ASCII name for old clients, and the real name in UTF-8. */
export function formatAttachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*!]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
