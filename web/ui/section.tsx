import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

type SectionProps = {
  title: string;
  hint?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
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
