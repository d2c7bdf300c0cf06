/** Parts of pages: sections, facts, and links to subpages. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";

type SectionProps = {
  title: string;
  hint?: ComponentChildren;
  actions?: ComponentChildren;
  children?: ComponentChildren;
};

/** A section of a page with its own heading. */
export function Section({ title, hint, actions, children }: SectionProps) {
  const id = useId();
  return (
    <section class="section card" aria-labelledby={id}>
      <div class="section-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {hint && <p class="soft">{hint}</p>}
      {children}
    </section>
  );
}

type SubNavProps = { label: string; items: readonly { href: string; label: string }[] };

/** Links to the pages of a section, such as the account. Subpages count as part of their page. */
export function SubNav({ label, items }: SubNavProps) {
  const { path } = useLocation();
  const current = items.find(({ href }) => href === path) ?? items.find(({ href }) => path.startsWith(`${href}/`));
  const nav = useRef<HTMLElement>(null);
  // On phones the links scroll sideways.
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  return (
    <nav ref={nav} class="sub-nav" aria-label={label}>
      {items.map((item) => (
        <a key={item.href} href={item.href} aria-current={item === current ? "page" : undefined}>
          {item.label}
        </a>
      ))}
    </nav>
  );
}

export type Fact = [name: string, value: ComponentChildren];

/** Names and values. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd dir="auto">{value}</dd>
      </div>
    ))}
  </dl>
);
