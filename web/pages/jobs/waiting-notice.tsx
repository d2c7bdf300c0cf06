import { api, must } from "../../app/api";
import { openJobs } from "../../app/open-jobs";
import { useResource } from "../../app/resource";
import { useRefresh } from "../../app/use-refresh";
import { Icon } from "../../ui/icon";

const REFRESH_MS = 30_000;

/** Explains why jobs are waiting while part of the server is not working. */
export const WaitingNotice = () => (openJobs.value.length > 0 ? <ServerNotice /> : null);

function ServerNotice() {
  const status = useResource((signal) => must(api.GET("/api/v1/status", { signal })), []);
  useRefresh(() => void status.reload(), REFRESH_MS);
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
