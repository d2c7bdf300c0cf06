/** Returns the path of a link of this server. Links have its public address, which may differ from the one that this page was opened with. */
export function toLocalAddress(link: string): string {
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}
