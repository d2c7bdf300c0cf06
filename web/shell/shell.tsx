/** The shell around every page: the top bar, the navigation, and the dialogs that any page may need. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { listenKeys, useActions } from "../app/actions";
import { api, must } from "../app/api";
import { connection } from "../app/connection";
import { toNumber } from "../app/english";
import { formatCount, formatDay } from "../app/format";
import { progressOf } from "../app/live";
import { loadSession } from "../app/load-session";
import { openJobs } from "../app/open-jobs";
import { findCurrentStep, getSubjectId, nameInput, namePipeline, type Pipeline } from "../app/pipelines";
import { usePlaces } from "../app/places";
import { lazyPage, withStyle } from "../app/routes";
import { canWrite, findPurgeTime, me } from "../app/session";
import { showFailure, showToast } from "../app/toasts";
import { isTrayNeeded } from "../app/tray-state";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { usePopover } from "../ui/menu";
import { JobStatus } from "../ui/status";
import { useBusy } from "../ui/use-busy";
import { receiveOtherDrops } from "../upload/dropped-files";
import { AccountMenu } from "./account-menu";
import { Bell } from "./bell";
import { Brand, ThemeButton } from "./brand";
import { CommandPalette, PaletteButton } from "./command-palette";
import type { KeyboardHelp } from "./keyboard-help";
import { MainNav, Rail, WorkspaceSwitch } from "./rail";

const Tray = lazyPage(withStyle("pages", () => import("../tray/tray")));

export function Shell({ children }: { children: ComponentChildren }) {
  const { path, route } = useLocation();
  // A recording fills the window.
  const isEditor = path.startsWith("/assets/");
  // A new page is announced by its heading, as after a page load.
  usePlaces();
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
              The server does not respond. Reconnecting…
            </p>
          )}
        </div>
        {children}
      </main>
      {isTrayNeeded.value && <Tray />}
      <Keyboard />
      <CommandPalette />
    </div>
  );
}

/** Shows on every page that the account is pending deletion, and offers to restore it. */
function GraceBanner() {
  const { isBusy, run } = useBusy();
  const deletedAt = me.value?.deleted_at ?? null;
  if (deletedAt === null) return null;
  const restore = () =>
    run(async () => {
      await must(api.POST("/api/v1/users/me/restore"));
      await loadSession();
      showToast({ kind: "info", text: "Your account was restored." });
    });
  return (
    <section class="message warning grace-banner" aria-label="Account deletion">
      <Icon name="warning" />
      <p>
        Your account is being deleted. All of its data is permanently deleted on{" "}
        <strong>{formatDay(findPurgeTime(deletedAt))}</strong>. Until then you can restore it, and nothing is lost.
      </p>
      <span class="message-actions">
        <Button look="primary" isBusy={isBusy} onClick={() => void restore()}>
          Restore account
        </Button>
      </span>
    </section>
  );
}

/** Shows the running and waiting jobs of the workspace, and their number. */
function LiveJobs() {
  const { isOpen, setIsOpen, root, button } = usePopover();
  const jobs = openJobs.value;
  if (jobs.length === 0) return null;
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="button quiet live-jobs"
        aria-expanded={isOpen}
        title={`${formatCount(jobs.length, "job")} running or waiting`}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="jobs" />
        <span>
          {toNumber(jobs.length)}
          <span class="live-jobs-noun"> {jobs.length === 1 ? "job" : "jobs"}</span>
        </span>
      </button>
      {isOpen && (
        <section class="menu-items popover-list" aria-label="Running and waiting jobs">
          <ul class="plain-list">
            {jobs.slice(0, MAX_SHOWN).map((job) => (
              <JobRow key={job.id} job={job} onOpen={() => setIsOpen(false)} />
            ))}
          </ul>
          {jobs.length > MAX_SHOWN && (
            <p class="soft">and {formatCount(jobs.length - MAX_SHOWN, "more job", "more")}</p>
          )}
          <a class="button" href="/jobs" onClick={() => setIsOpen(false)}>
            All jobs
          </a>
        </section>
      )}
    </div>
  );
}

const MAX_SHOWN = 8;

type JobRowProps = { job: Pipeline; onOpen(): void };

function JobRow({ job, onOpen }: JobRowProps) {
  const step = findCurrentStep(job);
  const share = progressOf(getSubjectId(step)).value ?? step?.progress ?? 0;
  const title = namePipeline(job);
  const name = nameInput(job);
  return (
    <li class="live-job">
      <a href={`/jobs/${job.id}`} onClick={onOpen}>
        {title}
      </a>
      <JobStatus state={step?.state ?? job.state} />
      <span class="soft truncate" title={name} dir="auto">
        {name}
      </span>
      {step?.state === "running" && <progress class="progress" aria-label={`${title} ${name}`} max={1} value={share} />}
    </li>
  );
}

/** Handles keyboard shortcuts on all pages. Their list is loaded when it is first opened. */
function Keyboard() {
  const [Help, setHelp] = useState<typeof KeyboardHelp | null>(null);
  useLayoutEffect(listenKeys, []);
  useActions(
    useMemo(() => {
      const perform = () =>
        void import("./keyboard-help").then((help) => setHelp(() => help.KeyboardHelp), showFailure);
      return [{ name: "help.keys", label: "Show keyboard shortcuts", group: "Everywhere", keys: ["?"], perform }];
    }, []),
  );
  return Help && <Help onClose={() => setHelp(null)} />;
}
