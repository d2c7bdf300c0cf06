/** The shell around every page: the side bar, the top bar, and the dialogs that any page may need. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { listenKeys, useActions } from "../app/actions";
import { api, must } from "../app/api";
import { connection } from "../app/connection";
import { formatDay } from "../app/format";
import { loadSession } from "../app/load-session";
import { usePlaces } from "../app/places";
import { lazyPage, withStyle } from "../app/routes";
import { canWrite, findPurgeTime, me } from "../app/session";
import { showFailure, showToast } from "../app/toasts";
import { isTrayNeeded } from "../app/tray-state";
import { Icon } from "../ui/icon";
import { Message } from "../ui/states";
import { BusyButton } from "../ui/use-busy";
import { receiveOtherDrops } from "../upload/dropped-files";
import type { Drop, default as DroppedRecordings } from "../upload/dropped-recordings";
import { ThemeButton } from "./brand";
import { CommandPalette, SearchButton } from "./command-palette";
import type { KeyboardHelp } from "./keyboard-help";
import { Rail, SideBar, UnreadStatus } from "./rail";

const loadDroppedRecordings = withStyle("pages", () => import("../upload/dropped-recordings"));
const loadDrops = () => Promise.all([loadDroppedRecordings(), import("../upload/take-recordings")]);
const Tray = lazyPage(withStyle("pages", () => import("../tray/tray")));

export function Shell({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  // A recording fills the window.
  const isEditor = path.startsWith("/assets/");
  // A new page is announced by its heading, as after a page load.
  usePlaces();
  return (
    <div class={isEditor ? "shell of-editor" : "shell"}>
      <a class="button skip-link" href="#main">
        Skip to the content
      </a>
      {isEditor ? (
        <Rail />
      ) : (
        <>
          <SideBar />
          <header class="shell-bar">
            <SearchButton />
            <ThemeButton />
          </header>
        </>
      )}
      <main id="main" class="shell-main" tabIndex={-1}>
        <GraceBanner />
        <div role="status">
          {connection.value === "reconnecting" && (
            <Message look="warning">The server does not respond. Reconnecting…</Message>
          )}
        </div>
        {children}
      </main>
      {isTrayNeeded.value && <Tray />}
      <UnreadStatus />
      <OtherDrops />
      <Keyboard />
      <CommandPalette />
    </div>
  );
}

/** Shows on every page that the account is pending deletion, and offers to restore it. */
function GraceBanner() {
  const deletedAt = me.value?.deleted_at ?? null;
  if (deletedAt === null) return null;
  const restore = async () => {
    await must(api.POST("/api/v1/users/me/restore"));
    await loadSession();
    showToast({ kind: "info", text: "Your account was restored." });
  };
  return (
    <section class="message warning grace-banner" aria-label="Account deletion">
      <Icon name="warning" />
      <p>
        Your account is being deleted. All of its data is permanently deleted on{" "}
        <strong>{formatDay(findPurgeTime(deletedAt))}</strong>. Until then you can restore it, and nothing is lost.
      </p>
      <span class="message-actions">
        <BusyButton look="primary" work={restore}>
          Restore account
        </BusyButton>
      </span>
    </section>
  );
}

/** Adds files that are dropped outside of a drop area to a project, one drop after the other. */
function OtherDrops() {
  const [Dropped, setDropped] = useState<typeof DroppedRecordings | null>(null);
  const [drops, setDrops] = useState<readonly Drop[]>([]);
  const mayUpload = canWrite.value;
  useEffect(() => {
    if (!mayUpload) return;
    return receiveOtherDrops({
      // So that the drop is shown at once.
      prepare: () => void loadDrops().catch(() => {}),
      take: (dropped) => {
        const path = location.pathname;
        loadDrops().then(([loaded, { startCheck }]) => {
          const drop = { dropped, path, check: startCheck(dropped.count) };
          setDropped(() => loaded.default);
          setDrops((waiting) => [...waiting, drop]);
        }, showFailure);
      },
    });
  }, [mayUpload]);
  const [drop] = drops;
  if (Dropped === null || drop === undefined) return null;
  return <Dropped key={drop} {...drop} onClose={() => setDrops((all) => all.filter((one) => one !== drop))} />;
}

/** Handles keyboard shortcuts on all pages. Their list is loaded when it is first opened. */
function Keyboard() {
  const [Help, setHelp] = useState<typeof KeyboardHelp | null>(null);
  useLayoutEffect(listenKeys, []);
  useActions(() => {
    const perform = () => void import("./keyboard-help").then((help) => setHelp(() => help.KeyboardHelp), showFailure);
    return [{ name: "help.keys", label: "Show keyboard shortcuts", group: "Everywhere", keys: ["?"], perform }];
  }, []);
  return Help && <Help onClose={() => setHelp(null)} />;
}
