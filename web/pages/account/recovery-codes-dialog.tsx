import { useRef, useState } from "preact/hooks";
import { saveBlob } from "../../app/save-file";
import { Button } from "../../ui/button";
import { copyText } from "../../ui/copy-text";
import { ShownOnceDialog } from "../../ui/shown-once-dialog";

type RecoveryCodesDialogProps = { codes: string[]; email: string; onClose(): void };

/** Shows new recovery codes once. */
export const RecoveryCodesDialog = ({ codes, email, onClose }: RecoveryCodesDialogProps) => (
  <ShownOnceDialog title="Save your recovery codes" closeLabel="I have saved them" onClose={onClose}>
    <RecoveryCodes codes={codes} email={email} />
  </ShownOnceDialog>
);

type RecoveryCodesProps = { codes: string[]; email: string };

/** Shows recovery codes once, with buttons that copy and save them. */
function RecoveryCodes({ codes, email }: RecoveryCodesProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [note, setNote] = useState("");
  const text = codes.join("\n");
  const copy = async () => setNote(await copyText(field.current!));
  const download = () => {
    const head = `Recovery codes of ${email} at ${location.host}. Each signs in once.\n\n`;
    saveBlob(new Blob([head, text, "\n"], { type: "text/plain" }), "offcut-recovery-codes.txt");
    setNote("Downloaded.");
  };
  return (
    <div class="recovery-codes">
      <p>
        Each code signs you in once if you do not have your authenticator. Store them in a safe place: they are not
        shown again.
      </p>
      <textarea
        ref={field}
        class="input mono"
        aria-label="Recovery codes"
        rows={codes.length}
        value={text}
        readOnly
        spellcheck={false}
      />
      <div class="toolbar">
        <Button icon="link" onClick={() => void copy()}>
          Copy
        </Button>
        <Button icon="download" onClick={download}>
          Download
        </Button>
        <span class="soft" role="status">
          {note}
        </span>
      </div>
    </div>
  );
}
