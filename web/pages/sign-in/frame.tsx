import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { loadSession } from "../../app/load-session";
import { APP_PATTERN } from "../../app/paths";
import { decodeText } from "../../app/use-query";
import { Brand, ThemeButton } from "../../shell/brand";

/** The frame of pages that need no session. */
export function SignInFrame({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Offcut`;
    // Forms focus their first field. Without one, the heading is announced.
    if (document.activeElement === document.body) heading.current?.focus();
  }, [title]);
  return (
    <>
      <header class="sign-in-bar">
        <Brand />
        <ThemeButton />
      </header>
      <main class="sign-in card">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </main>
    </>
  );
}

/**
 * Returns the token of a link and removes it from the address, so that it does not appear in the history. It comes
 * after the `#`, which browsers do not send to servers.
 */
export function takeToken(): string {
  const hash = location.hash.slice(1);
  const token = decodeText(hash) ?? hash;
  if (token !== "") history.replaceState(null, "", location.pathname + location.search);
  return token;
}

/** Opens the page named in the query if it is on this server, otherwise the start page. */
export async function finishSignIn(route: (url: string, replace?: boolean) => void): Promise<void> {
  const wanted = new URLSearchParams(location.search).get("redirect") ?? "/";
  const target = URL.canParse(wanted, location.origin) ? new URL(wanted, location.origin) : null;
  const isOwn = target?.origin === location.origin && wanted.startsWith("/");
  if (!isOwn) {
    await loadSession();
    return route("/", true);
  }
  // Some paths, such as the documentation, are not pages of the dashboard.
  if (APP_PATTERN.test(target.pathname)) {
    await loadSession();
    return route(target.pathname + target.search, true);
  }
  location.replace(target.href);
}

/** Texts that several sign-in pages share. */
export const INCOMPLETE_LINK = "The link is incomplete, or this page was reloaded. Open the full link again.";
