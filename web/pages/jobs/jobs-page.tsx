/** The running, waiting and ended jobs of the workspace. */
import { useLocation } from "preact-iso";
import { isOpenState, type Pipeline } from "../../app/pipelines";
import { Page } from "../../ui/page";
import { Segments } from "../../ui/segments";
import { EndedJobs } from "./ended-jobs";
import { OpenJobs } from "./open-jobs";
import { WaitingNotice } from "./waiting-notice";

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
