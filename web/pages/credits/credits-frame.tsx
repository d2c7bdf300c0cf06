import type { ComponentChildren } from "preact";
import { isBilled } from "../../app/session";
import { Page } from "../../ui/page";
import { SubNav } from "../../ui/section";
import { Empty } from "../../ui/states";

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
    {isBilled.value ? (
      <>
        <SubNav label="Credits" items={PAGES} />
        {children}
      </>
    ) : (
      <Empty title="Nothing costs credits on this server" icon="credits" />
    )}
  </Page>
);
