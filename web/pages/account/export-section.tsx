import { useState } from "preact/hooks";
import { api, must, toMessage } from "../../app/api";
import { useRead } from "../../app/cache";
import { Button } from "../../ui/button";
import { Section } from "../../ui/section";
import { ErrorPanel, ResourceView } from "../../ui/states";
import { ExportState, findExport, toExport } from "./export-state";

/** Requests the export of the user's data, and shows its state. */
export function ExportSection() {
  const latest = useRead(["export"], (signal) => must(api.GET("/api/v1/users/me/export", { signal })), {
    // The event stream is closed during the grace period.
    refreshMs: (latest) => (toExport(latest)?.status === "pending" ? 4_000 : undefined),
  });
  const isPending = findExport(latest)?.status === "pending";
  return (
    <Section
      title="Export your data"
      hint="A ZIP archive with everything in your personal workspace, and what you created in shared ones: projects, transcripts, cuts, renders, credits and settings as JSON files. Passwords and keys are not included."
    >
      <ResourceView resource={latest}>
        {({ notification }) => (
          <>
            <ExportState latest={latest} />
            {!isPending && <ExportForm isFirst={notification === null} onRequested={() => void latest.reload()} />}
          </>
        )}
      </ResourceView>
    </Section>
  );
}

function ExportForm({ isFirst, onRequested }: { isFirst: boolean; onRequested(): void }) {
  const [hasMedia, setHasMedia] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const request = async () => {
    setIsBusy(true);
    setError(null);
    try {
      await must(api.POST("/api/v1/users/me/export", { params: { query: hasMedia ? { media: "true" } : {} } }));
      onRequested();
    } catch (thrown) {
      setError(toMessage(thrown));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={hasMedia} onChange={(event) => setHasMedia(event.currentTarget.checked)} />
        Include recordings and renders. This makes the archive much larger.
      </label>
      {error && <ErrorPanel message={error} />}
      <div class="toolbar">
        <Button isBusy={isBusy} onClick={() => void request()}>
          {isFirst ? "Request an export" : "Request a new export"}
        </Button>
      </div>
    </>
  );
}
