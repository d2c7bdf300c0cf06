/** Frames of pages that belong together: the title and the links between them. */
import type { ComponentChildren } from "preact";
import { isBilled } from "../app/session";
import { SETTINGS } from "../shell/navigation";
import { NotFoundPage, Page } from "../ui/page";
import { SubNav } from "../ui/section";

const ACCOUNT_PAGES = [
  { href: "/account", label: "Profile" },
  { href: "/account/security", label: "Security" },
  { href: "/account/notifications", label: "Notifications" },
  { href: "/account/data", label: "Your data" },
] as const;

/** The frame of the account pages. */
export const AccountFrame = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <Page title={title} crumb={SETTINGS}>
    <SubNav label="Account" items={ACCOUNT_PAGES} />
    <div class="account">{children}</div>
  </Page>
);

const CREDITS_PAGES = [
  { href: "/credits", label: "Overview" },
  { href: "/credits/history", label: "History" },
  { href: "/credits/orders", label: "Orders" },
  { href: "/credits/invoices", label: "Invoices" },
] as const;

type CreditsFrameProps = { title: string; actions?: ComponentChildren; children: ComponentChildren };

/** The frame of the pages about credits, which do not exist on a server where nothing costs credits. */
export const CreditsFrame = ({ title, actions, children }: CreditsFrameProps) =>
  isBilled.value ? (
    <Page title={title} crumb={SETTINGS} actions={actions}>
      <SubNav label="Credits" items={CREDITS_PAGES} />
      {children}
    </Page>
  ) : (
    <NotFoundPage />
  );
