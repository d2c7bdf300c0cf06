/** Uploads files to a project. They are chosen, or dropped anywhere on its page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { useAddUploads } from "../../upload/add-uploads";
import { type DroppedFiles, readDroppedFiles, toDropped } from "../../upload/dropped-files";
import { describeLimits, useUploadLimits } from "../../upload/limits";
import { RECORDING_TYPES } from "../../upload/recording-types";
import { startCheck, takeRecordings } from "../../upload/take-recordings";

/** `isLarge`: an area instead of a button, for a project without recordings. */
export function UploadArea({ projectId, isLarge }: { projectId: string; isLarge: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const { add, question } = useAddUploads();

  async function take({ count, files }: DroppedFiles): Promise<void> {
    if (count === 0) return;
    const check = startCheck(count);
    try {
      await add(projectId, await takeRecordings(await files, check), check);
    } catch (error) {
      if (!check.signal.aborted) showFailure(error);
    } finally {
      check.end();
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
      void take(readDroppedFiles(event.dataTransfer));
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
          void take(toDropped([...(event.currentTarget.files ?? [])]));
          // Clearing the value lets the user choose the same file again.
          event.currentTarget.value = "";
        }}
      />
      {question}
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
