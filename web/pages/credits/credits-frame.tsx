import type { ComponentChildren } from "preact";
import { Page } from "../../ui/page";
import { SubNav } from "../../ui/sub-nav";

const PAGES = [
  { href: "/credits", label: "Overview" },
  { href: "/credits/history", label: "History" },
  { href: "/credits/orders", label: "Orders" },
  { href: "/credits/invoices", label: "Invoices" },
] as const;

type CreditsFrameProps = { title: string; actions?: ComponentChildren; children: ComponentChildren };

/** The frame of the pages about credits. */
export const CreditsFrame = ({ title, actions, children }: CreditsFrameProps) => (
  <Page title={title} actions={actions}>
    <SubNav label="Credits" items={PAGES} />
    {children}
  </Page>
);
