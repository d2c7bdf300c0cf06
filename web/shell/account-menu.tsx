import { useLocation } from "preact-iso";
import { performAction } from "../app/actions";
import { api } from "../app/api";
import { endSession, session, toDisplayName } from "../app/session";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";

/** The user's menu. */
export function AccountMenu() {
  const { route } = useLocation();
  if (session.value.kind !== "signed-in") return null;
  const signOut = async () => {
    await api.POST("/api/v1/auth/logout").catch(() => {});
    endSession();
  };
  return (
    <Menu
      label={`Account: ${toDisplayName(session.value.me)}`}
      items={[
        { label: "Account", icon: "user", run: () => route("/account") },
        { label: "Workspaces", icon: "workspaces", run: () => route("/workspaces") },
        { label: "Keyboard shortcuts", icon: "keyboard", run: () => performAction("help.keys") },
        { label: "System status", icon: "info", run: () => route("/status") },
        { label: "Sign out", icon: "signOut", run: () => void signOut() },
      ]}
    >
      <Icon name="user" />
    </Menu>
  );
}
