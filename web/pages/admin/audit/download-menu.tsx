import { useState } from "preact/hooks";
import { saveFile } from "../../../app/save-file";
import { showFailure } from "../../../app/toasts";
import { Icon } from "../../../ui/icon";
import { Menu } from "../../../ui/menu";

type DownloadMenuProps = { filters: Record<string, string | undefined> };

/** Downloads the entries that match. The download is recorded in the log. */
export function DownloadMenu({ filters }: DownloadMenuProps) {
  const [isBusy, setIsBusy] = useState(false);
  const save = async (format: "csv" | "jsonl") => {
    if (isBusy) return;
    setIsBusy(true);
    try {
      const search = new URLSearchParams({ ...(filters as Record<string, string>), format });
      await saveFile(`/api/v1/admin/audit/export?${search}`);
    } catch (error) {
      showFailure(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Menu
      label="Download the entries that match"
      look=""
      items={[
        { label: "CSV, for spreadsheets", run: () => void save("csv") },
        { label: "JSON lines", run: () => void save("jsonl") },
      ]}
    >
      <Icon name="download" />
      {isBusy ? "Downloading…" : "Download"}
    </Menu>
  );
}
