/** The frame of the administration pages: the heading and the links between them. */

import type { ComponentChildren } from "preact";
import { isBilled } from "../../app/session";
import { Page } from "../../ui/page";
import { SubNav } from "../../ui/sub-nav";

const ITEMS = [
  { href: "/admin/users", label: "Users" },
  { href: "/admin/orders", label: "Orders" },
  { href: "/admin/jobs", label: "Jobs" },
  { href: "/admin/workers", label: "Workers" },
  { href: "/admin/storage", label: "Storage" },
  { href: "/admin/backups", label: "Backups" },
  { href: "/admin/health", label: "Health" },
  { href: "/admin/audit", label: "Audit log" },
] as const;

type AdminFrameProps = { title: string; actions?: ComponentChildren; children: ComponentChildren };

export const AdminFrame = ({ title, actions, children }: AdminFrameProps) => (
  <Page title={title} actions={actions}>
    <SubNav
      label="Administration"
      items={isBilled.value ? ITEMS : ITEMS.filter(({ href }) => href !== "/admin/orders")}
    />
    {children}
  </Page>
);
