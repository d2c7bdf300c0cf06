// Where a page leads to, and the token that a link brought.

/**
 * Returns the token of a link and removes it from the address, so that it stays in no history. It is after the `#`, which browsers send to
 * no server.
 */
export function takeToken() {
  const token = decodeURIComponent(location.hash.slice(1));
  if (token !== "") history.replaceState(null, "", location.pathname + location.search);
  return token;
}

/** Opens the page named in the query if it is a path of this server, else the front page. */
export function leave() {
  const wanted = new URLSearchParams(location.search).get("redirect") ?? "/";
  const target = URL.canParse(wanted, location.origin) ? new URL(wanted, location.origin) : null;
  const isOwn = target?.origin === location.origin && wanted.startsWith("/");
  location.replace(isOwn ? target.href : "/");
}
