import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";

type CancelButtonProps = {
  /** Such as "render of interview.mp4". */
  jobName: string;
  /** If false, the button is hidden, but an open dialog stays open. */
  isOffered?: boolean;
  onConfirm(): Promise<void>;
  /** Describes what stops and what is lost. */
  children: ComponentChildren;
};

/** Cancels a job after a confirmation. */
export function CancelButton({ jobName, isOffered = true, onConfirm, children }: CancelButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      {isOffered && (
        <Button aria-label={`Cancel ${jobName}`} onClick={() => setIsAsking(true)}>
          Cancel
        </Button>
      )}
      {isAsking && (
        <ConfirmDialog
          title="Cancel this job?"
          confirmLabel="Cancel the job"
          closeLabel="Keep it"
          onConfirm={onConfirm}
          onClose={() => setIsAsking(false)}
        >
          <p>{children}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
