import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { openJobs } from "../../app/open-jobs";
import { Icon } from "../../ui/icon";

/** Explains why jobs are waiting while part of the server is not working. */
export const WaitingNotice = () => (openJobs.value.length > 0 ? <ServerNotice /> : null);

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
