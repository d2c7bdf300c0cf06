import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Empty } from "./states";

type PageProps = {
  title: string;
  /** The title of the browser's tab. Default: `title`. */
  tabTitle?: string;
  /** The page to which this one belongs, as a link above the title. */
  crumb?: { label: string; href: string; onClick?: (() => void) | undefined } | undefined;
  /** The content below the title. */
  detail?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
};

/** A page in the shell. Its heading receives the focus when the page opens, so that it is announced. */
export function Page({ title, tabTitle = title, crumb, detail, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(tabTitle);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus();
  }, []);
  return (
    <div class="page">
      <div class="page-head">
        {crumb && (
          <nav class="crumb" aria-label="Breadcrumb">
            <a href={crumb.href} onClick={crumb.onClick}>
              {crumb.label}
            </a>
          </nav>
        )}
        <h1 ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h1>
        {actions && <div class="toolbar">{actions}</div>}
        {detail && <p class="page-detail soft number">{detail}</p>}
      </div>
      {children}
    </div>
  );
}

/** Moves the focus to the page's heading when the focused element has disappeared. */
export const focusHeading = (): void => document.querySelector<HTMLElement>("main h1")?.focus();

/**
 * Moves the focus to the page's heading, without scrolling, if the focused element has disappeared after the next
 * render.
 */
export const keepFocus = (): void =>
  void setTimeout(() => {
    if (document.activeElement === document.body)
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  });

/** Sets the document title while a page is open. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Offcut`;
  }, [title]);
}

/** Shown for a path that does not exist, and for resources of other users. */
export function NotFoundPage() {
  useTitle("Page not found");
  return (
    <Empty title="Page not found" icon="search" isPage link={{ href: "/projects", label: "Back to the projects" }}>
      <p>It may have been deleted, or you may not have access to it.</p>
    </Empty>
  );
}
