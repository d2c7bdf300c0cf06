import { Dialog } from "../../ui/dialog";
import { DoneFooter } from "../../ui/dialog-actions";
import { RecoveryCodes } from "./recovery-codes";

type RecoveryCodesDialogProps = { codes: string[]; email: string; onClose(): void };

/** Shows new recovery codes once. */
export const RecoveryCodesDialog = ({ codes, email, onClose }: RecoveryCodesDialogProps) => (
  <Dialog title="Save your recovery codes" onClose={onClose}>
    <div class="dialog-body">
      <RecoveryCodes codes={codes} email={email} />
    </div>
    <DoneFooter label="I have saved them" onClose={onClose} />
  </Dialog>
);
