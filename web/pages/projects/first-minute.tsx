/** The page of projects in an empty workspace. */

import { useLocation } from "preact-iso";
import { canWrite } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { Empty } from "../../ui/states";
import { BusyButton } from "../../ui/use-busy";
import { type DroppedFiles, toDropped } from "../../upload/dropped-files";
import { describeLimits, useUploadLimits } from "../../upload/limits";
import { RECORDING_TYPES } from "../../upload/recording-types";

const STEPS = [
  { title: "Drop", detail: "The project is named after the file" },
  { title: "Play", detail: "Right away, while it is transcribed" },
  { title: "Review", detail: "One key for each uncertain place" },
];

/** Viewers cannot upload. */
export default function FirstMinute() {
  if (canWrite.value) return <FirstUpload />;
  return (
    <Empty title="No projects yet" icon="projects" link={{ href: "/workspaces", label: "Show your workspaces" }}>
      <p>A project holds the recordings of a series, a course or a client.</p>
    </Empty>
  );
}

function FirstUpload() {
  const { route } = useLocation();
  const limits = useUploadLimits().state.value;
  return (
    <section class="first-minute" aria-labelledby="first-minute">
      <div class="upload-area">
        <span class="upload-mark">
          <Icon name="upload" />
        </span>
        <h2 id="first-minute">Drop a recording, get a cut</h2>
        <p class="soft">
          Offcut transcribes it, takes out pauses, fillers and retakes, and shows you every decision. Nothing leaves
          this server.
        </p>
        <div class="first-actions">
          <Button icon="plus" look="primary" onClick={() => chooseFiles(route)}>
            Choose files
          </Button>
          <DemoButton upload={(files) => uploadFiles(toDropped(files), route)} />
        </div>
        {/* A line of the same height, until the limits are known. */}
        <span class="soft limits">{limits.kind === "ready" ? describeLimits(limits.value) : "\u00a0"}</span>
      </div>
      <ol class="steps">
        {STEPS.map(({ title, detail }, index) => (
          <li key={title}>
            <b>{index + 1}</b>
            <span>
              {title}
              <span class="soft">{detail}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Uploads the demo talk like a recording of the user's. */
function DemoButton({ upload }: { upload(files: File[]): Promise<void> }) {
  const start = async () => {
    const response = await fetch(DEMO_TALK_URL);
    if (!response.ok) throw new Error("The demo talk was not found. Reload the page.");
    await upload([new File([await response.blob()], "Demo talk.mp4", { type: "video/mp4" })]);
  };
  return (
    <BusyButton icon="play" work={start}>
      Try the demo talk
    </BusyButton>
  );
}

type Route = (path: string) => void;

/** Uploads the recordings among files to a new project. */
export async function uploadFiles(files: DroppedFiles, route: Route): Promise<void> {
  try {
    const { uploadToNewProject } = await import("../../upload/new-project");
    await uploadToNewProject(files, route);
  } catch (error) {
    showFailure(error);
  }
}

/** Opens the choice of files, whose recordings are uploaded to a new project. */
export function chooseFiles(route: Route): void {
  const input = document.createElement("input");
  Object.assign(input, { type: "file", multiple: true, accept: RECORDING_TYPES });
  input.addEventListener("change", () => void uploadFiles(toDropped([...(input.files ?? [])]), route));
  input.click();
}
