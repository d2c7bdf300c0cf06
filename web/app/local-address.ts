/**
 * Returns the path of a link to this server. Links use the server's public address, which may differ from the address
 * that opened this page.
 */
export function toLocalAddress(link: string): string {
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}
