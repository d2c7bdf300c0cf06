import type { ComponentChildren } from "preact";
import { Page } from "../../ui/page";
import { SubNav } from "../../ui/section";

const PAGES = [
  { href: "/account", label: "Profile" },
  { href: "/account/security", label: "Security" },
  { href: "/account/notifications", label: "Notifications" },
  { href: "/account/data", label: "Your data" },
] as const;

/** The frame of the account pages. */
export const AccountFrame = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <Page title={title}>
    <SubNav label="Account" items={PAGES} />
    <div class="account">{children}</div>
  </Page>
);
