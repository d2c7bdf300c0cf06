import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../../app/format";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { readDroppedFiles } from "../../upload/dropped-files";
import { findDuplicates } from "../../upload/duplicates";
import { RECORDING_TYPES } from "../../upload/new-project";
import { addUploads } from "../../upload/queue";

/** Accepts files that are dropped anywhere on the page or chosen in a dialog. Asks before a file is uploaded again. */
export function UploadArea({ projectId, isLarge }: { projectId: string; isLarge: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const [question, setQuestion] = useState<{ files: File[]; known: string[] } | null>(null);

  async function take(files: File[]): Promise<void> {
    if (files.length === 0) return;
    try {
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

  return (
    <div class={`upload-area ${isLarge ? "large" : ""} ${isOver ? "over" : ""}`}>
      <Icon name="upload" />
      <p>{isLarge ? "Drop a recording here" : "Drop recordings anywhere on this page"}</p>
      <Button onClick={() => input.current?.click()}>Choose files</Button>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        multiple
        aria-label="Upload files"
        accept={RECORDING_TYPES}
        onChange={(event) => {
          void take([...(event.currentTarget.files ?? [])]);
          // Clearing the value lets the user choose the same file again.
          event.currentTarget.value = "";
        }}
      />
      {question && (
        <Dialog title="Upload again?" onClose={() => setQuestion(null)}>
          <div class="dialog-body">
            <p>
              {question.known.length === 1
                ? `The project already has a recording with this name and size: ${question.known[0]}.`
                : `The project already has ${formatCount(question.known.length, "recording")} with these names and sizes: ${question.known.slice(0, 5).join(", ")}.`}
            </p>
          </div>
          <div class="dialog-foot">
            <Button
              onClick={() => {
                addUploads(
                  projectId,
                  question.files.filter(({ name }) => !question.known.includes(name)),
                );
                setQuestion(null);
              }}
            >
              Skip
            </Button>
            <Button
              look="primary"
              onClick={() => {
                addUploads(projectId, question.files);
                setQuestion(null);
              }}
            >
              Upload again
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
