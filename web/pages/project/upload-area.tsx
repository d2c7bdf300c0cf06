/** Takes files for a project, dropped anywhere on its page or chosen. Asks before a file is uploaded again. */

import { useEffect, useRef, useState } from "preact/hooks";
import { MAX_SEARCH_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must } from "../../app/api";
import { formatCount } from "../../app/format";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { readDroppedFiles } from "../../upload/dropped-files";
import { describeLimits, useUploadLimits } from "../../upload/limits";
import { listNames } from "../../upload/messages";
import { addUploads } from "../../upload/queue";
import { RECORDING_TYPES } from "../../upload/recording-types";
import { dropScripts } from "../../upload/scripts";
import { takeRecordings } from "../../upload/take-recordings";

/** `known`: those of the files that the project may have already. */
type Question = { files: File[]; known: File[] };

/** `isLarge`: an area instead of a button, for a project without recordings. */
export function UploadArea({ projectId, isLarge }: { projectId: string; isLarge: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);

  async function take(dropped: File[]): Promise<void> {
    if (dropped.length === 0) return;
    try {
      const files = await takeRecordings(dropped);
      const known = await findDuplicates(projectId, files);
      if (known.length > 0) setQuestion({ files, known });
      else addUploads(projectId, files);
    } catch (error) {
      showFailure(error);
    }
  }

  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setIsOver(event.type === "dragover");
    };
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setIsOver(false);
      void readDroppedFiles(event.dataTransfer).then(take);
    };
    document.addEventListener("dragover", onDrag);
    document.addEventListener("dragleave", onDrag);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onDrag);
      document.removeEventListener("dragleave", onDrag);
      document.removeEventListener("drop", onDrop);
    };
  }, [projectId]);

  const choose = () => input.current?.click();
  return (
    <>
      {isLarge ? (
        <LargeArea isOver={isOver} onChoose={choose} />
      ) : (
        <Button icon="upload" look="primary" onClick={choose}>
          Upload
        </Button>
      )}
      {isOver && !isLarge && (
        <div class="drop-veil">
          <p>
            <Icon name="upload" /> Drop recordings to add them to this project
          </p>
        </div>
      )}
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Upload files"
        accept={RECORDING_TYPES}
        onChange={(event) => {
          void take([...(event.currentTarget.files ?? [])]);
          // Clearing the value lets the user choose the same file again.
          event.currentTarget.value = "";
        }}
      />
      {question && <AgainDialog projectId={projectId} {...question} onClose={() => setQuestion(null)} />}
    </>
  );
}

function LargeArea({ isOver, onChoose }: { isOver: boolean; onChoose(): void }) {
  const limits = useUploadLimits().state.value;
  return (
    <div class={`upload-area ${isOver ? "over" : ""}`}>
      <span class="upload-mark">
        <Icon name="upload" />
      </span>
      <p>Drop recordings here</p>
      {limits.kind === "ready" && <span class="soft">{describeLimits(limits.value)}</span>}
      <Button onClick={onChoose}>Choose files</Button>
    </div>
  );
}

type AgainDialogProps = Question & { projectId: string; onClose(): void };

const AgainDialog = ({ projectId, files, known, onClose }: AgainDialogProps) => (
  <Dialog title="Upload again?" onClose={onClose}>
    <div class="dialog-body">
      <p>
        {known.length === 1
          ? `This project already has a recording with the same name and size: ${known[0]!.name}.`
          : `This project already has ${formatCount(known.length, "recording")} with the same names and sizes: ${listNames(known)}.`}
      </p>
    </div>
    <div class="dialog-foot">
      <Button
        onClick={() => {
          const rest = files.filter((file) => !known.includes(file));
          dropScripts(known, rest);
          addUploads(projectId, rest);
          onClose();
        }}
      >
        Skip
      </Button>
      <Button
        look="primary"
        onClick={() => {
          addUploads(projectId, files);
          onClose();
        }}
      >
        Upload again
      </Button>
    </div>
  </Dialog>
);

/** Returns the files with the same name and size as a recording in the project. */
async function findDuplicates(projectId: string, files: File[]): Promise<File[]> {
  const found = await Promise.all(
    files.map(async (file) => {
      const query = { project_id: projectId, q: file.name.slice(0, MAX_SEARCH_CHARACTERS), limit: 100 };
      const { items } = await must(api.GET("/api/v1/assets", { params: { query } }));
      return items.some((asset) => asset.filename === file.name && asset.size_bytes === file.size) ? [file] : [];
    }),
  );
  return found.flat();
}
