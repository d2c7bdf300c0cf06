import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Brand } from "../../shell/brand";
import { ThemeButton } from "../../shell/theme-button";

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
