import { useLocation } from "preact-iso";
import { performAction } from "../app/actions";
import { api } from "../app/api";
import { touch } from "../app/narrow";
import { endSession, me, toDisplayName } from "../app/session";
import { PersonCell } from "../ui/avatar";
import { Icon } from "../ui/icon";
import { Menu, type MenuItem } from "../ui/menu";

/** Returns the items of the user's menu. */
function useAccountItems(): MenuItem[] {
  const { route } = useLocation();
  const signOut = async () => {
    await api.POST("/api/v1/auth/logout").catch(() => {});
    endSession();
  };
  return [
    { label: "Account", icon: "user", run: () => route("/account") },
    { label: "Workspaces", icon: "workspaces", run: () => route("/workspaces") },
    { label: "Keyboard shortcuts", icon: "keyboard", run: () => performAction("help.keys") },
    { label: "System status", icon: "info", run: () => route("/status") },
    { label: "Sign out", icon: "signOut", run: () => void signOut() },
  ];
}

/** The user's menu. */
export function AccountMenu() {
  const items = useAccountItems();
  const { value: user } = me;
  if (user === null) return null;
  const name = toDisplayName(user);
  return (
    <Menu label={`Account: ${name}`} look="quiet account-button" hasText={true} items={items}>
      <span class="visually-hidden">Account: </span>
      <PersonCell person={{ id: user.id, name }} />
    </Menu>
  );
}

/** The menu with the entries that do not fit into the tab bar. */
export function MoreMenu() {
  const { route } = useLocation();
  const settings: MenuItem = { label: "Settings", icon: "sliders", run: () => route("/settings") };
  const items = useAccountItems().filter(({ icon }) => !(touch.matches && icon === "keyboard"));
  return (
    <Menu label="More" look="quiet" hasText={true} items={[settings, ...items]}>
      <Icon name="more" />
      More
    </Menu>
  );
}
