/** The shell around every page: the top bar, the navigation, and the dialogs that any page may need. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { connection } from "../app/connection";
import { canWrite } from "../app/session";
import { Icon } from "../ui/icon";
import { receiveOtherDrops } from "../upload/dropped-files";
import { AccountMenu } from "./account-menu";
import { Bell } from "./bell";
import { Brand } from "./brand";
import { CommandPalette, PaletteButton } from "./command-palette";
import { GraceBanner } from "./grace-banner";
import { KeyboardHelp } from "./keyboard-help";
import { LiveJobs } from "./live-jobs";
import { MainNav } from "./main-nav";
import { Rail } from "./rail";
import { ThemeButton } from "./theme-button";
import { WorkspaceSwitch } from "./workspace-switch";

export function Shell({ children }: { children: ComponentChildren }) {
  const { path, route } = useLocation();
  // A recording fills the window.
  const isEditor = path.startsWith("/assets/");
  // A new page is announced by its heading, as after a page load.
  useEffect(() => {
    scrollTo(0, 0);
  }, [path]);
  const mayUpload = canWrite.value;
  useEffect(() => {
    if (!mayUpload) return;
    return receiveOtherDrops((files) =>
      // A recording on which somebody works stays open.
      import("../upload/new-project").then((uploads) => uploads.uploadToNewProject(files, isEditor ? null : route)),
    );
  }, [mayUpload, isEditor, route]);
  return (
    <div class={isEditor ? "shell of-editor" : "shell"}>
      <a class="button skip-link" href="#main">
        Skip to the content
      </a>
      {isEditor ? (
        <Rail />
      ) : (
        <>
          <header class="shell-bar">
            <Brand />
            <WorkspaceSwitch />
            <span class="spacer" />
            <LiveJobs />
            <PaletteButton />
            <Bell />
            <ThemeButton />
            <AccountMenu />
          </header>
          <MainNav />
        </>
      )}
      <main id="main" class="shell-main" tabIndex={-1}>
        <GraceBanner />
        <div role="status">
          {connection.value === "reconnecting" && (
            <p class="message warning">
              <Icon name="warning" />
              The server does not respond. What you see may be out of date. Reconnecting…
            </p>
          )}
        </div>
        {children}
      </main>
      <KeyboardHelp />
      <CommandPalette />
    </div>
  );
}
