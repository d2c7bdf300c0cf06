/** The running, waiting and ended jobs of the workspace. */
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { openJobs } from "../../app/open-jobs";
import { isOpenState, type Pipeline } from "../../app/pipelines";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { Segments } from "../../ui/segments";
import { EndedJobs } from "./ended-jobs";
import { OpenJobs } from "./open-jobs";

const ALL = "all";
const FILTERS: { value: Pipeline["state"] | typeof ALL; label: string }[] = [
  { value: ALL, label: "All" },
  { value: "running", label: "Running" },
  { value: "pending", label: "Waiting" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
];

export default function JobsPage() {
  const { query, route } = useLocation();
  const chosen = FILTERS.find(({ value }) => value === query.state)?.value ?? ALL;
  const state = chosen === ALL ? null : chosen;
  return (
    <Page title="Jobs">
      <Segments
        class="job-filter"
        label="State"
        value={chosen}
        options={FILTERS}
        onChange={(value) => route(value === ALL ? "/jobs" : `/jobs?state=${value}`, true)}
      />
      <WaitingNotice />
      {(state === null || isOpenState(state)) && <OpenJobs state={state} />}
      {(state === null || !isOpenState(state)) && <EndedJobs state={state} />}
    </Page>
  );
}

/** Explains why jobs are waiting while part of the server is not working. */
const WaitingNotice = () => (openJobs.value.length > 0 ? <ServerNotice /> : null);

function ServerNotice() {
  const status = useRead(["status"], (signal) => must(api.GET("/api/v1/status", { signal })), { refreshMs: 30_000 });
  const found = status.state.value;
  if (found.kind !== "ready" || found.value.status === "ok") return null;
  return (
    <div class="message warning" role="status">
      <Icon name="warning" />
      <p>
        {found.value.parts.uploads === "unavailable"
          ? "The server's disk is almost full. Jobs wait until space is available. Saved data is safe."
          : "Part of the server is not working. Jobs may be delayed. Saved data is safe."}{" "}
        <a href="/status">System status</a>
      </p>
    </div>
  );
}
