/** The pages behind "Settings", which the palette also lists. */
import { isAdmin, isBilled, toWorkspaceName, workspace } from "../app/session";
import type { IconName } from "../ui/icon";

type SettingsPage = { href: string; label: string; hint: string; icon: IconName };
type SettingsGroup = { title: string; pages: SettingsPage[] };

/** Returns the pages that this user can open, in groups. Reads signals. */
export function listSettings(): SettingsGroup[] {
  const current = workspace.value;
  return [
    {
      title: "Your account",
      pages: [
        { href: "/account", label: "Profile", hint: "Your name and email address", icon: "user" },
        { href: "/account/security", label: "Security", hint: "Password, two-factor sign-in, sessions", icon: "admin" },
        { href: "/account/notifications", label: "Notifications", hint: "In the app and by email", icon: "bell" },
        { href: "/account/data", label: "Your data", hint: "Export it, or delete the account", icon: "download" },
      ],
    },
    {
      title: current === null || current.is_personal ? "Workspace" : `Workspace ${toWorkspaceName(current)}`,
      pages: [
        { href: "/workspaces", label: "Workspaces", hint: "Members, invitations, vocabulary", icon: "workspaces" },
        ...(isBilled.value ? [CREDITS] : []),
        { href: "/keys", label: "API keys", hint: "For scripts and other programs", icon: "key" },
        { href: "/webhooks", label: "Webhooks", hint: "Notify another server when work is done", icon: "webhook" },
      ],
    },
    {
      title: "Server",
      pages: [
        ...(isAdmin.value ? [ADMINISTRATION] : []),
        { href: "/status", label: "System status", hint: "Version, documentation, licenses", icon: "info" },
      ],
    },
  ];
}

const CREDITS: SettingsPage = {
  href: "/credits",
  label: "Credits",
  hint: "Balance, history, orders, invoices",
  icon: "credits",
};
const ADMINISTRATION: SettingsPage = {
  href: "/admin/users",
  label: "Administration",
  hint: "Users, workers, storage, backups, health",
  icon: "admin",
};
