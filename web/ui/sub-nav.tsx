import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";

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
